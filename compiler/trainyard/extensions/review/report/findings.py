"""The findings, each with its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.extensions.forecast.blocks import Block, Heading, code_text, paragraph, table
from trainyard.extensions.forecast.subject import Subject
from trainyard.language.diagnostics import Diagnostic


def section(subject: Subject) -> Iterator[Block]:
    """The findings, the worst first."""
    findings = subject.findings
    others = [finding for finding in findings if not finding.code.startswith("CHG")]
    return of(others)


def of(findings: Sequence[Diagnostic]) -> Iterator[Block]:
    """The table of some findings."""
    if not findings:
        yield paragraph("No findings.")
        return
    worst_first = sorted(findings, key=lambda finding: -finding.severity)
    yield Heading("Findings")
    yield table(("severity", "code", "place", "finding", "help"), map(_row, worst_first))


def _row(finding: Diagnostic) -> tuple[str, ...]:
    return (str(finding.severity), finding.code, place(finding), finding.message, finding.help)


def place(finding: Diagnostic) -> str:
    """File and line of a finding; empty where it has none."""
    if finding.span is None:
        return ""
    span = finding.span
    return code_text(f"{span.file.name}:{span.line}")
