"""Tests of kinds walk over everything that there is: every rule, key, kind of job, spelling.

`make test` walks over a part of it, drawn by a fixed seed, which is the same in every run; `.ci/run` walks over all of
it (``--every-case``).
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import pytest

OPTION = "--every-case"
Case = TypeVar("Case")


class Counts(NamedTuple):
    """How many cases there are, and how many of them were walked over."""

    all: int = 0
    walked: int = 0


class Walk:
    """What this run walks over, and what it has walked over by file."""

    every = False
    counts: defaultdict[str, Counts] = defaultdict(Counts)


def drawn(cases: Iterable[Case], most: int | None = None, seed: object = "") -> list[Case]:
    """The cases that a test walks over, in their order: so many of them, or all."""
    every = list(cases)
    walked = every
    if most is not None and most < len(every) and not Walk.every:
        kept = sorted(random.Random(f"57 {seed}").sample(range(len(every)), most))
        walked = [every[index] for index in kept]
    file = sys._getframe(1).f_code.co_filename
    before = Walk.counts[file]
    Walk.counts[file] = Counts(before.all + len(every), before.walked + len(walked))
    return walked


def examples_of(number: int) -> int:
    """How many examples Hypothesis makes: a quarter of what a whole walk makes."""
    return number if Walk.every else number // 4


def only_whole(why: str) -> pytest.MarkDecorator:
    """Of a test that `make test` leaves to `.ci/run`."""
    return pytest.mark.skipif(not Walk.every, reason=f"{why}: {OPTION} tries it")


def reasons_of(table: Mapping[str, Any], walked: Iterable[str]) -> dict[str, Any]:
    """The reasons of a table that are about something that was walked over."""
    names = set(walked)
    return {name: reason for name, reason in table.items() if name in names}


def at_least(number: int) -> int:
    """How many comparisons a whole walk is known to make; of a part of it one is enough."""
    return number if Walk.every else 1
