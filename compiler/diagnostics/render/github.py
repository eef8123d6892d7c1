"""GitHub Actions workflow commands, one a diagnostic.

Form and escaping: actions/toolkit, packages/core/src/command.ts (``escapeData``, ``escapeProperty``).
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics.diagnostic import Diagnostic, Severity
from compiler.diagnostics.render.text import printable

_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
}


def render(
    diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False
) -> str:
    """``::error file=…,line=…,col=…,title=CODE::fact``; an annotation shows fact, label, notes and help."""
    return "".join(f"{_command(item)}\n" for item in diagnostics)


def _command(item: Diagnostic) -> str:
    properties: dict[str, str | int] = {}
    if (span := item.span) is not None:
        properties = {
            "file": span.file.name,
            "line": span.line,
            "endLine": span.end_line,
            "col": span.column,
        }
        if (
            span.line == span.end_line
        ):  # GitHub heeds columns only within one line; its end is inclusive
            properties["endColumn"] = max(span.column, span.end_column - 1)
    properties["title"] = item.code
    text = "\n".join(
        [
            item.message,
            *([item.label] if item.label else []),
            *(f"in {name}" for name in [item.object] if name),
            *(f"note: {note}" for note in item.notes),
            *(f"{place}: {label}" for place, label in item.related),
            *([f"help: {item.help}"] if item.help else []),
        ]
    )
    pairs = ",".join(
        f"{key}={_property(str(value))}" for key, value in properties.items()
    )
    return f"::{_COMMANDS[item.severity]} {pairs}::{_data(text)}"


def _data(text: str) -> str:
    text = "\n".join(
        map(printable, text.split("\n"))
    )  # a runner's log is read at a terminal, too
    return text.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
