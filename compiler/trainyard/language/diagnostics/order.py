"""The order in which findings are reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from trainyard.language.diagnostics.diagnostic import Diagnostic, Severity
from trainyard.language.diagnostics.words import numbered


def sort(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, line, column, code and message; those without a place come first; exact duplicates go."""
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for item in diagnostics:
        rest = (item.severity, item.object, item.label, item.help, item.notes)
        key = (*_key(item), *rest)
        unique.setdefault(key, item)
    return sorted(unique.values(), key=_key)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """``2 errors, 1 warning``; empty if there is nothing to report."""
    counts = Counter(item.severity for item in diagnostics)
    parts = []
    for level in reversed(Severity):
        count = counts[level]
        if count:
            parts.append(numbered(count, str(level)))
    return ", ".join(parts)


def _key(item: Diagnostic) -> tuple[str, int, int, str, str, str]:
    span = item.span
    place = ("", 0, 0)
    if span is not None:
        place = (span.file.name, span.line, span.column)
    return (*place, item.code, item.message, str(item.at) if item.at is not None else "")
