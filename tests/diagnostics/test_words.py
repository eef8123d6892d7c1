"""How messages name numbers, lists and values."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.language.diagnostics.words import kind_of


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "empty"),
        ("", "empty"),
        (True, "the boolean `true`"),
        (0, "the number `0`"),
        (1.5, "the number `1.5`"),
        ("a" * 32, f"the text `{'a' * 32}`"),
        ("a" * 33, f"the text `{'a' * 32}…`"),
        ([], "a list"),
        ({}, "a mapping"),
    ],
)
def test_what_a_value_is(value: Any, words: str) -> None:
    assert kind_of(value) == words
