"""What the edit changes in the committed folder, and what that means for a running cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.extensions.forecast.blocks import (
    Block,
    Entry,
    Heading,
    Strong,
    code_text,
    folded,
    listing,
)
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.report.findings import place
from trainyard.extensions.review.report.upgrades import UPGRADES
from trainyard.language.diagnostics import Diagnostic


def section(subject: Subject) -> Iterator[Block]:
    """How many files differ, by kind of change; and what was reported of the edit."""
    kinds = (("added", subject.added), ("changed", subject.changed), ("removed", subject.removed))
    changed = [(kind, paths) for kind, paths in kinds if paths]
    counts = [f"{len(paths)} {kind}" for kind, paths in changed]
    reported = [
        finding
        for finding in subject.findings
        if finding.code.startswith("CHG") and finding.code not in UPGRADES
    ]
    if not counts and not reported:
        return
    yield Heading("Changes")
    if reported:
        yield listing(map(_reported, reported))
    if counts:
        title = f"{', '.join(counts)} against what is committed"
        yield folded(title, [listing(_paths(kinds))])


def _reported(finding: Diagnostic) -> Entry:
    text = (Strong(finding.code), f" {finding.message} ({place(finding)})")
    return Entry(text, finding.notes)


def _paths(kinds: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    marks = {"added": "+", "changed": "~", "removed": "-"}
    for kind, paths in kinds:
        for path in paths:
            yield f"{marks[kind]} {code_text(path)}"
