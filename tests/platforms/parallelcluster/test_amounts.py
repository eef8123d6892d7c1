"""Amounts and times of batch scripts, as Slurm writes them."""

from __future__ import annotations

import pytest
from trainyard.extensions.parallelcluster.formats.sbatch.reading import (
    bytes_of,
    gpus_of,
    seconds_of,
)

MIB, GIB = 1024**2, 1024**3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("30", 1800),
        ("30:20", 1820),
        ("1:30:20", 5420),
        ("2-3", 2 * 86400 + 3 * 3600),
        ("2-3:30", 2 * 86400 + 3 * 3600 + 1800),
        ("2-03:30:10", 2 * 86400 + 3 * 3600 + 1810),
        ("0", 0),
        ("UNLIMITED", None),
        ("1:2:3:4", None),
        ("99999999", 99999999 * 60),
        ("99999999999", 99999999 * 60),
        ("000000000010", 600),
        ("1:090:00", 9000),
        ("999999-0", 999999 * 86400),
    ],
)
def test_a_time_limit(text: str | None, seconds: int | None) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (None, 0),
        ("", 0),
        ("0", 0),
        ("512", 512 * MIB),
        ("512M", 512 * MIB),
        ("4G", 4 * GIB),
        ("4gb", 4 * GIB),
        ("2048K", 2 * MIB),
        ("1T", 1024 * GIB),
        ("99999999999G", 99999999999 * GIB),
        ("much", 0),
    ],
)
def test_a_size(text: str | None, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize(
    ("text", "named", "count"),
    [
        (None, True, 0),
        ("gpu:8", True, 8),
        ("gpu:h100:8", True, 8),
        ("gpu", True, 1),
        ("gpu:h100", True, 1),
        ("shard:4,gpu:2", True, 2),
        ("shard:4", True, 0),
        ("8", False, 8),
        ("h100:4", False, 4),
        ("h100", False, 0),
        ("gpu:1234567", True, 1234567),
        ("gpu:1k", True, 1024),
        (f"gpu:{'9' * 5000}", True, 10**18 - 1),
    ],
)
def test_gpus(text: str | None, named: bool, count: int) -> None:
    assert gpus_of(text, named=named) == count
