"""Tests of kinds walk over a drawn part of their cases, the same in every run, and over all of them in CI."""

from __future__ import annotations

import pytest
from builders import ROOT
from drawn import OPTION, Walk, at_least, drawn, reasons_of

from tests.kinds import HEAD, KINDS, LIMIT, TESTS

CASES = range(1000)


def table() -> list[list[str]]:
    """The cells of the table of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text.partition(HEAD)[2].partition("\n\n")[0].strip().splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_a_part_is_the_same_in_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Walk, "every", False)
    part = drawn(CASES, 10, "a")
    assert part == drawn(CASES, 10, "a") == sorted(part)
    assert len({*part}) == 10
    assert part != drawn(CASES, 10, "b")
    assert drawn(CASES) == [*CASES]
    assert at_least(100) == 1


def test_all_are_walked_over_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Walk, "every", True)
    assert drawn(CASES, 10) == [*CASES]
    assert at_least(100) == 100


def test_the_reasons_are_those_of_what_was_walked_over() -> None:
    assert reasons_of({"A": "why", "B": "why"}, ["A", "C"]) == {"A": "why"}


def test_ci_walks_over_every_case() -> None:
    assert f"make --no-print-directory test ARGS={OPTION}\n" in (ROOT / ".ci/run").read_text()


def test_the_table_is_that_of_the_tests_of_kinds_and_stays_below_the_limit() -> None:
    *rows, (name, *_, whole) = table()
    assert [row[0] for row in rows] == [f"`{name}`" for name in KINDS]
    assert [row[1] for row in rows] == [*KINDS.values()]
    assert all(0 < int(walked) <= int(every) for _, _, every, walked, _ in rows)
    assert name == "all"
    assert float(whole) < LIMIT
    assert [name for name in KINDS if not (TESTS / name).is_file()] == []
