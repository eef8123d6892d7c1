"""What the platform of a cluster, and the extensions that add to it, say of costs and failures."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from trainyard.extensions.forecast.blocks import Block
from trainyard.extensions.forecast.costs import Item
from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.outcome import Outcome
from trainyard.extensions.forecast.subject import Subject


def costs_of(subject: Subject) -> Iterator[Item]:
    """What is paid beside storage: ``costs`` of each ``report``."""
    yield from _report(subject).costs(subject)
    for report in subject.platform.added("report"):
        yield from report.costs(subject)


def repair_of(subject: Subject) -> Iterator[Block]:
    """How sick nodes are replaced: ``repair`` of the platform's ``report``."""
    yield from _report(subject).repair(subject)


def sections_of(subject: Subject) -> Iterator[ModuleType]:
    """The modules with a ``section`` of the report that extensions add: ``SECTIONS`` of each ``report``."""
    for report in subject.platform.added("report"):
        yield from report.SECTIONS


def outcomes_of(subject: Subject, job: Footing) -> Iterator[Outcome]:
    """The outcome of each failure of a job: ``outcomes`` of the platform's ``failures``."""
    yield from subject.platform.answering("forecast", "failures").outcomes(subject, job)


def _report(subject: Subject) -> ModuleType:
    return subject.platform.answering("forecast", "report")
