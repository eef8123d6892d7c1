"""Why a number of the report is what it is: cells of its tables that say it, and values that were derived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainyard.extensions.forecast.blocks import (
    Block,
    Explained,
    Folded,
    Heading,
    Table,
    plain_text,
)
from trainyard.extensions.forecast.subject import Subject

DERIVED = "Decisions"


class Reason(NamedTuple):
    """A value: its section, of what it is, which one it is, and why."""

    section: str
    object: str
    field: str
    value: str
    why: str

    def __str__(self) -> str:
        return f"{self.section}: {self.object}, {self.field}: {self.value}: {self.why}"

    def is_about(self, words: Iterable[str]) -> bool:
        """Whether each word is in its names or its value, in any case."""
        names = f"{self.section} {self.object} {self.field} {self.value}".lower()
        return all(word.lower() in names for word in words)


def reasons(subject: Subject, blocks: Iterable[Block]) -> Iterator[Reason]:
    """Every value of some sections that says why, in their order; then every derived value."""
    for title, each in tables(blocks):
        yield from _of_table(each, title)
    for value in subject.plan.derived:
        yield Reason(DERIVED, value.object, value.field, value.value, value.reason)


def tables(blocks: Iterable[Block], title: str = "") -> Iterator[tuple[str, Table]]:
    """The tables of some sections, each with the title that it stands under."""
    for block in blocks:
        if isinstance(block, Heading):
            title = block.title
        elif isinstance(block, Folded):
            yield from tables(block.blocks, block.title)
        elif isinstance(block, Table):
            yield title, block


def _of_table(table: Table, title: str) -> Iterator[Reason]:
    for row in table.rows:
        for column, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, Explained):
                yield Reason(title, plain_text(row[0]), column.name, cell.text, cell.why)
