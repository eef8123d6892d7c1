"""A Markdown table for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.language.diagnostics.diagnostic import Diagnostic, Severity
from trainyard.language.diagnostics.order import summary
from trainyard.language.diagnostics.render.text import printable

_ICONS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.NOTE: "ℹ️"}
_MAX_ROWS = 200  # GitHub refuses comments over 65,536 characters


def render(diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False) -> str:
    """A heading with the counts, then one row a diagnostic."""
    if not diagnostics:
        return "**Trainyard**: no findings\n"
    rows = [_row(item) for item in diagnostics[:_MAX_ROWS]]
    more = len(diagnostics) - len(rows)
    return "".join(
        [
            f"**Trainyard**: {summary(diagnostics)}\n\n",
            "| | Code | Place | Finding | Help |\n| --- | --- | --- | --- | --- |\n",
            *rows,
            f"\n{more} more not shown\n" if more else "",
        ]
    )


def _row(item: Diagnostic) -> str:
    route = str(item.at or item.object)
    place = _cell(route)
    if item.span is not None:
        place = f"`{_code(str(item.span))}`"
    fact = _cell(item.message)
    if item.label:
        fact += f"<br>{_cell(item.label)}"
    icon = _ICONS[item.severity]
    help = _cell(item.help)
    return f"| {icon} | {item.code} | {place} | {fact} | {help} |\n"


def _code(text: str) -> str:
    safe = text.replace("`", "'").replace("|", "\\|")
    return printable(safe.replace("\n", " "))


def _cell(text: str) -> str:
    """Text that stays in its cell, draws no HTML and mentions nobody. Backticks keep their meaning."""
    lines = map(printable, text.split("\n"))
    text = "\n".join(lines)
    for char, safe in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("|", "\\|"),
        ("@", "&#64;"),
        ("\n", "<br>"),
    ):
        text = text.replace(char, safe)
    return text
