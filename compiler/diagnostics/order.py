"""The order in which findings are told."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.diagnostics.diagnostic import Diagnostic, Severity


def sort(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, line, column, code and message; those without a place come first; exact duplicates go."""
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for item in diagnostics:
        unique.setdefault(
            (
                *_key(item),
                item.severity,
                item.object,
                item.label,
                item.help,
                item.notes,
            ),
            item,
        )
    return sorted(unique.values(), key=_key)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """``2 errors, 1 warning``; empty if there is nothing to tell."""
    levels = [item.severity for item in diagnostics]
    counts = ((level, levels.count(level)) for level in reversed(Severity))
    return ", ".join(
        f"{count} {level}{'s' if count > 1 else ''}" for level, count in counts if count
    )


def _key(item: Diagnostic) -> tuple[str, int, int, str, str, str]:
    span = item.span
    place = (span.file.name, span.line, span.column) if span is not None else ("", 0, 0)
    return (
        *place,
        item.code,
        item.message,
        str(item.at) if item.at is not None else "",
    )
