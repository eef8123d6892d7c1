"""Markdown as GitHub and GitLab show it: tables, lists, and parts that are folded away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table and an empty line. A header that ends in ``:`` is aligned to the right, for numbers."""
    yield _row([cell.removesuffix(":") for cell in header])
    yield _row(map(_rule, header))
    for row in rows:
        yield _row(row)
    yield ""


def _rule(cell: str) -> str:
    return "---:" if cell.endswith(":") else "---"


def _row(cells: Iterable[str]) -> str:
    row = " | ".join(_cell(cell) for cell in cells)
    return f"| {row} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines behind a title that opens them."""
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def code(text: object) -> str:
    """A name or a value as code; of one with a backtick, between two (CommonMark 0.31, code spans)."""
    shown = str(text)
    if "`" in shown:
        return f"`` {shown} ``"
    return f"`{shown}`"
