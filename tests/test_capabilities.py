"""docs/capabilities.md: its keys are keys of the spec, and each capability has a page or a reason."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from running import ROOT
from trainyard.cli.keys import key_rows

PAGE = ROOT / "docs" / "capabilities.md"
KEY = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


class Row(NamedTuple):
    """A line of a table."""

    capability: str
    spec: str
    page: str


def rows() -> list[Row]:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("| ")
    ]
    return [Row(*row) for row in cells if row[0] not in ("capability", "---")]


@pytest.mark.needs("hyperpod", "parallelcluster")
def test_every_key_is_one_of_the_spec() -> None:
    known = {path for path, _ in key_rows()}
    named = [key for row in rows() for key in KEY.findall(row.spec)]
    assert len(named) > 60
    assert [key for key in named if f"spec.{key}" not in known] == []


def test_every_capability_is_said_or_has_a_reason() -> None:
    for row in rows():
        pages = LINK.findall(row.page)
        assert all((PAGE.parent / page).is_file() for page in pages), row
        if not row.spec:
            reason = row.page
            assert reason.startswith(("Left out: ", "Left out, ", "Another platform")), row
            assert len(reason) > 40, row


def test_no_capability_stands_twice() -> None:
    named = [row.capability for row in rows()]
    assert len(named) == len(set(named)) >= 54
