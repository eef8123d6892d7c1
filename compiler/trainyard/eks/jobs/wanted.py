"""The kinds of the spec's jobs, which decide the operators and Kueue's integrations."""

from __future__ import annotations

from trainyard.core.jobs.spec import JobsSection
from trainyard.eks.jobs.kind import JobKind
from trainyard.eks.jobs.kinds import kinds
from trainyard.plan.context import Context


def used(context: Context) -> list[JobKind]:
    """The kinds that the spec has jobs of. Jobs that are done count: what is left of their runs has the operator's
    finalizers and pods."""
    unnamed = next(iter(context.answers.kinds()))
    named = {job.kind or unnamed for job in JobsSection.of(context.spec).jobs}
    return [kind for kind in kinds().values() if kind.name in named]


def operates(context: Context, component: str) -> bool:
    """Whether a component is the operator of a kind that the spec has jobs of."""
    return any(kind.operator == component for kind in used(context))
