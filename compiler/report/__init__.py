"""The report of a cluster for a reviewer of a pull request, in Markdown here and in HTML by ``compiler.html``.

A section is a module with one function ``section``, from a ``Subject`` to blocks; it is empty where it has nothing to
say. ``SECTIONS`` has their order.
"""

from collections.abc import Iterable, Iterator, Sequence

from compiler.diagnostics import Diagnostic
from compiler.report import (
    admission,
    changes,
    checkpoints,
    cost,
    decisions,
    findings,
    jobs,
    logs,
    managed_monitoring,
    merge,
    models,
    monitoring,
    outside,
    queues,
    recovery,
    runs,
    spending,
    storage,
    timeouts,
    trust,
    upgrades,
)
from compiler.report.blocks import Block, paragraph
from compiler.report.markdown import lines
from compiler.report.subject import Subject

SECTIONS = (
    findings,
    merge,
    changes,
    trust,
    upgrades,
    runs,
    cost,
    spending,
    queues,
    admission,
    jobs,
    models,
    storage,
    checkpoints,
    recovery,
    timeouts,
    monitoring,
    managed_monitoring,
    logs,
    outside,
    decisions,
)
"""The order of sections: those that a reviewer must act on come first."""


def report(subject: Subject) -> str:
    """Every section that has something to say, under the cluster's name."""
    return _page(subject.name, [paragraph(f"{where(subject)}."), *sections(subject)])


def where(subject: Subject) -> str:
    """Region, account and release of a cluster."""
    spec = subject.spec
    return f"{spec.region}, account {spec.account}, release {subject.plan.release}"


def sections(subject: Subject) -> Iterator[Block]:
    """Every section that has something to say."""
    for module in SECTIONS:
        yield from module.section(subject)


def unfinished(name: str, diagnostics: Sequence[Diagnostic]) -> str:
    """The report of a spec that has no plan: what is wrong with it."""
    return _page(name, findings.of(diagnostics))


def _page(name: str, blocks: Iterable[Block]) -> str:
    return "\n".join([f"# {name}", "", *lines(blocks)])


__all__ = ["Subject", "report", "sections", "unfinished", "where"]
