"""Every number of a report's tables says why it is what it is, unless the spec says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

import pytest
from running import SPECS
from trainyard.extensions.forecast.blocks import Block, Explained, Strong, plain_text
from trainyard.extensions.forecast.subjects import subject
from trainyard.extensions.review.report import FIRST, rest
from trainyard.extensions.review.report.why import tables
from trainyard.run.driver import check
from trainyard.run.outcome import Options

pytestmark = pytest.mark.slow

SAID = {
    *(("Cost", "nodes"), ("Cost", "number"), ("Cost by job and queue", "nodes")),
    *(("Cost by job and queue", "quota"), ("Jobs", "nodes"), ("Repair of nodes", "nodes")),
    ("Storage", "size"),
}
"""Columns of what the spec says, or counts of what stands in other tables."""


def unexplained(blocks: Iterable[Block], title: str) -> Iterator[tuple[str, str]]:
    """Columns of numbers in which a cell gives no reason."""
    for heading, table in tables(blocks, title):
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                has_number = column.number and any(map(str.isdigit, plain_text(cell)))
                if has_number and not isinstance(cell, Explained):
                    yield heading, column.name


def test_a_text_of_parts_is_read_without_what_stands_out() -> None:
    parts = ("at most ", Strong("4"), " nodes")
    assert plain_text(parts) == "at most 4 nodes"


@pytest.mark.parametrize("path", sorted(SPECS.iterdir()), ids=lambda path: path.stem)
def test_every_computed_number_has_a_reason(path) -> None:
    options = Options(today=date(2026, 11, 1))
    done = check([path], options)
    assert done.compilations
    for compilation in done.compilations:
        about = subject(compilation, options)
        for module in (*FIRST, *rest(about)):
            assert set(unexplained(module.section(about), module.__name__)) <= SAID
