"""The versions that the edit changes: what restarts, what people must do, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import SAFE, UNKNOWN, VersionStep
from trainyard.catalog.upgrades import Upgrade
from trainyard.extensions.forecast.blocks import (
    Block,
    Heading,
    Strong,
    Text,
    listing,
    paragraph,
    table,
)
from trainyard.extensions.forecast.subject import Subject

UPGRADES = ("CHG010", "CHG011", "CHG012", "CHG013")
"""The codes of the findings that this section says whole."""
_WORDS = {UNKNOWN: "not known: read upstream's notes"}


def section(subject: Subject) -> Iterator[Block]:
    """A line for each component, and below it the steps of those that ask for any."""
    if not subject.steps:
        return
    yield Heading("Upgrades")
    yield table(("component", "from", "to", "verdict", "restarts"), map(_row, subject.steps))
    for step in subject.steps:
        for upgrade in step.asking():
            if step.verdict != SAFE:
                yield from _asked(step, upgrade)


def _row(step: VersionStep) -> tuple[str, ...]:
    verdict = _WORDS.get(step.verdict, step.verdict)
    return (step.component, step.before, step.after, verdict, "; ".join(step.restarted))


def _asked(step: VersionStep, upgrade: Upgrade) -> Iterator[Block]:
    lines: list[Text] = [(Strong(str(step)), f": {upgrade.summary}.")]
    if upgrade.precondition:
        lines.append(f"Before: {upgrade.precondition}.")
    yield paragraph(*lines)
    yield listing(upgrade.steps, to_do=True)
    yield paragraph(f"Source: {'; '.join(upgrade.sources)}.")
