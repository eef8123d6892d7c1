"""The report of a cluster, in Markdown, for a reviewer of a pull request.

A section is a module with one function ``section``, from a ``Subject`` to lines; it is empty where it has nothing to
say. ``SECTIONS`` has their order.
"""

from collections.abc import Sequence

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
    spec = subject.spec
    release = subject.plan.release
    lines = [
        f"# {subject.name}",
        "",
        f"{spec.region}, account {spec.account}, release {release}.",
        "",
    ]
    for module in SECTIONS:
        lines += module.section(subject)
    return "\n".join(lines)


def unfinished(name: str, diagnostics: Sequence[Diagnostic]) -> str:
    """The report of a spec that has no plan: what is wrong with it."""
    return "\n".join([f"# {name}", "", *findings.of(diagnostics)])


__all__ = ["Subject", "report", "unfinished"]
