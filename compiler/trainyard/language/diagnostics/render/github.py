"""GitHub Actions workflow commands, one a diagnostic.

Form and escaping: actions/toolkit, packages/core/src/command.ts (``escapeData``, ``escapeProperty``).
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.language.diagnostics.diagnostic import Diagnostic, Severity
from trainyard.language.diagnostics.render.text import details, printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False) -> str:
    """``::error file=…,line=…,col=…,title=CODE::fact``; an annotation shows fact, label, notes and help."""
    commands = map(_command, diagnostics)
    return "".join(f"{command}\n" for command in commands)


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
        # GitHub uses columns only within one line; its end is inclusive.
        if span.line == span.end_line:
            last = span.end_column - 1
            properties["endColumn"] = max(span.column, last)
    properties["title"] = item.code
    lines = [item.message, *details(item)]
    text = "\n".join(lines)
    pairs = []
    for key, value in properties.items():
        escaped = _property(str(value))
        pairs.append(f"{key}={escaped}")
    command = _COMMANDS[item.severity]
    return f"::{command} {','.join(pairs)}::{_data(text)}"


def _data(text: str) -> str:
    # A runner's log is read at a terminal, too.
    lines = map(printable, text.split("\n"))
    text = "\n".join(lines)
    return text.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
