"""What a section of the report consists of, before it is written as Markdown or HTML.

A text has code between backticks, as every message of the compiler has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Explained:
    """A value of a table, and in a sentence what it is made of. Markdown shows the value alone."""

    text: str
    why: str


Text: TypeAlias = str | Strong | Explained | tuple[str | Strong, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a section."""

    title: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some lines of text."""

    lines: tuple[Text, ...]


class Column(NamedTuple):
    """A column of a table, and whether it holds numbers."""

    name: str
    number: bool


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Text, ...], ...]


class Entry(NamedTuple):
    """An item of a list, with what stands below it."""

    text: Text
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A list; ``to_do``: of what people tick off."""

    entries: tuple[Entry, ...]
    to_do: bool = False


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks behind a title that opens them."""

    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = Heading | Paragraph | Table | Listing | Folded


def paragraph(*lines: Text) -> Paragraph:
    """Some lines of text."""
    return Paragraph(lines)


def table(header: Sequence[str], rows: Iterable[Sequence[Text]]) -> Table:
    """Rows under a header. The name of a column that holds numbers ends in ``:``."""
    columns = tuple(Column(name.removesuffix(":"), name.endswith(":")) for name in header)
    return Table(columns, tuple(tuple(row) for row in rows))


def listing(entries: Iterable[Text | Entry], *, to_do: bool = False) -> Listing:
    """A list of texts, or of entries with something below them."""
    found = (entry if isinstance(entry, Entry) else Entry(entry) for entry in entries)
    return Listing(tuple(found), to_do)


def folded(title: str, blocks: Iterable[Block]) -> Folded:
    """Blocks behind a title."""
    return Folded(title, tuple(blocks))


def plain_text(text: Text) -> str:
    """A text without what makes words stand out."""
    if isinstance(text, tuple):
        return "".join(plain_text(part) for part in text)
    if isinstance(text, str):
        return text
    return text.text


def code_text(text: object) -> str:
    """A name or a value as code; of one with a backtick, between two (CommonMark 0.31, code spans)."""
    shown = str(text)
    if "`" in shown:
        return f"`` {shown} ``"
    return f"`{shown}`"
