"""GitHub Actions workflow commands, one a diagnostic.

Form and escaping: actions/toolkit, packages/core/src/command.ts (``escapeData``, ``escapeProperty``).
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics.diagnostic import Diagnostic, Severity
from compiler.diagnostics.render.text import details, printable

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
    span = item.span
    if span is not None:
        properties = {
            "file": span.file.name,
            "line": span.line,
            "endLine": span.end_line,
            "col": span.column,
        }
        # GitHub heeds columns only within one line; its end is inclusive.
        if span.line == span.end_line:
            properties["endColumn"] = max(span.column, span.end_column - 1)
    properties["title"] = item.code
    text = "\n".join([item.message, *details(item)])
    pairs = [f"{key}={_property(str(value))}" for key, value in properties.items()]
    return f"::{_COMMANDS[item.severity]} {','.join(pairs)}::{_data(text)}"


def _data(text: str) -> str:
    # A runner's log is read at a terminal, too.
    text = "\n".join(map(printable, text.split("\n")))
    return text.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
