"""What a job's own patches say of the nodes of its pods, without its runtime."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.core.jobs.plan import Gang
from trainyard.eks.jobs.plan import patches_of
from trainyard.plan.scheduling import Toleration


def patched_tolerations(job: Gang) -> tuple[Toleration, ...] | None:
    """What a job's patches make its pods tolerate whatever the runtime says, since they replace tolerations as a whole
    (observed with Trainer 2.3.0); ``None`` if that is up to the runtime."""
    by_job = {
        patch.job: patch.pod.tolerations for patch in patches_of(job) if patch.pod.tolerations
    }
    if len(by_job) != 1:
        return None
    (tolerations,) = by_job.values()
    return tolerations


def patched_selector(job: Gang) -> Mapping[str, str]:
    """The node selector that a job says itself, or its patches: without that of its runtime."""
    selector: dict[str, str] = {**job.selector}
    for patch in patches_of(job):
        selector.update(patch.pod.node_selector)
    return selector
