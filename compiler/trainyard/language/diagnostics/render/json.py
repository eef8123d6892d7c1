"""JSON for programs. The shape is stable within a ``version``; keys may be added.

``{"version": 1, "tool": {"name", "version"}, "summary": {"errors", "warnings", "notes"}, "diagnostics": [...]}``,
each diagnostic ``{"code", "severity", "message", "label", "notes", "help", "route", "object", "place", "related"}``,
a place ``{"file", "line", "column", "endLine", "endColumn"}`` (1-based, characters, end exclusive) or null.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from trainyard.language.diagnostics.diagnostic import Diagnostic, Severity
from trainyard.language.places import Span


def render(diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False) -> str:
    """One JSON object, indented by two."""
    counts = Counter(item.severity for item in diagnostics)
    levels = reversed(Severity)
    summary = {f"{level}s": counts[level] for level in levels}
    body = {
        "version": 1,
        "tool": {"name": "trainyard", "version": tool_version},
        "summary": summary,
        "diagnostics": [_diagnostic(item) for item in diagnostics],
    }
    return json.dumps(body, indent=2) + "\n"


def _diagnostic(item: Diagnostic) -> dict[str, Any]:
    related = []
    for span, label in item.related:
        place = _place(span)
        related.append({"place": place, "label": label})
    return {
        "code": item.code,
        "severity": str(item.severity),
        "message": item.message,
        "label": item.label,
        "notes": list(item.notes),
        "help": item.help,
        "route": str(item.at) if item.at is not None else None,
        "object": item.object,
        "place": _place(item.span),
        "related": related,
    }


def _place(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "file": span.file.name,
        "line": span.line,
        "column": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
