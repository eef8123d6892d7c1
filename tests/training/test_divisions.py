"""What has to divide: each part of it alone makes a division that cannot be."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.extensions.forecast.training.changes import divides
from trainyard.extensions.forecast.training.setup import Setup

from training.test_memory import LLAMA

DIVIDED: dict[str, Any] = {
    "sequence": 8192,
    "sharding": "full",
    "data": 4,
    "tensor": 4,
    "pipeline": 2,
    "context": 2,
    "micro_batch": 2,
    "global_batch": 64,
}


@pytest.mark.parametrize(
    ("changed", "whole"),
    [
        ({}, True),
        ({"global_batch": None}, True),
        ({"global_batch": 60}, False),  # of 8 samples a step
        ({"data": 3}, False),
        ({"tensor": 16}, True),  # keys and values are copied
        ({"tensor": 3}, False),
        ({"pipeline": 3}, False),
        ({"pipeline": 2, "chunks": 3}, False),
        ({"sequence": 8190}, False),
        ({"sequence": 8190, "context": 1}, True),
    ],
)
def test_it_divides_or_not(changed: dict[str, Any], whole: bool) -> None:
    assert divides(LLAMA, Setup(**{**DIVIDED, **changed})) is whole
