"""Blocks as Markdown, as GitHub and GitLab show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.extensions.forecast.blocks import (
    Block,
    Column,
    Folded,
    Heading,
    Listing,
    Paragraph,
    Strong,
    Table,
    Text,
    plain_text,
)


def lines(blocks: Iterable[Block]) -> Iterator[str]:
    """The lines of some blocks, each with an empty line after it."""
    for block in blocks:
        yield from _lines(block)
        yield ""


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"## {block.title}"
        case Paragraph():
            yield from map(_text, block.lines)
        case Table():
            yield from _table(block)
        case Listing():
            yield from _listing(block)
        case Folded():
            yield f"<details><summary>{block.title}</summary>"
            yield ""
            yield from lines(block.blocks)
            yield "</details>"


def _text(text: Text) -> str:
    if isinstance(text, tuple):
        return "".join(map(_text, text))
    if isinstance(text, Strong):
        return f"**{text.text}**"
    return plain_text(text)


def _table(table: Table) -> Iterator[str]:
    yield _row([column.name for column in table.columns])
    yield _row(map(_rule, table.columns))
    for row in table.rows:
        yield _row(map(_text, row))


def _rule(column: Column) -> str:
    return "---:" if column.number else "---"


def _row(cells: Iterable[str]) -> str:
    row = " | ".join(_cell(cell) for cell in cells)
    return f"| {row} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _listing(listing: Listing) -> Iterator[str]:
    mark = "- [ ]" if listing.to_do else "-"
    for entry in listing.entries:
        yield f"{mark} {_text(entry.text)}"
        yield from _below(entry.below)


def _below(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield f"  - {text}"
