"""Templates of Helm, Jinja and the like, which are no YAML before they are rendered."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.diagnostic import warning
from compiler.source import SourceFile, Span

_HELM = "lint what it renders: `helm template … | trainyard lint -`"


def template(
    file: SourceFile,
    faults: Iterable[Diagnostic],
    mark: str = "{{",
    help: str = _HELM,
) -> Diagnostic | None:
    """The one thing to report of a template, at the first ``mark`` of its language."""
    spans = [fault.span for fault in faults]
    numbers = {span.line for span in spans if span is not None}
    if not numbers:
        return None
    lines = file.text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(mark):
            numbers.add(number)
    for number in sorted(numbers):
        line = lines[number - 1]
        column = line.find(mark) + 1
        if column:
            end = column + len(mark)
            return warning(
                "LNT002",
                "a template, whose objects are not known before it is rendered",
                span=Span(file, number, column, number, end),
                help=help,
            )
    return None


def once(findings: list[Diagnostic]) -> list[Diagnostic]:
    """One finding for all the templates of a folder."""
    kept: list[Diagnostic] = []
    firsts: dict[str, int] = {}
    more: Counter[str] = Counter()
    for finding in findings:
        if finding.code == "LNT002":
            if finding.span is None:
                continue
            file = finding.span.file
            folder = os.path.dirname(file.name)
            if folder in firsts:
                more[folder] += 1
                continue
            firsts[folder] = len(kept)
        kept.append(finding)
    for folder, count in more.items():
        index = firsts[folder]
        notes = (f"{count} more files of this folder are",)
        kept[index] = replace(
            kept[index],
            notes=notes,
        )
    return kept
