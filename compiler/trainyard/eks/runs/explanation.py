"""Derived values of a job that only ``explain`` shows."""

from __future__ import annotations

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.jobs.retrying import begins_at_step_0
from trainyard.eks.jobs.kind import kind_of
from trainyard.eks.jobs.plan import POD_PRIORITY
from trainyard.eks.runs.topology import UNCONSTRAINED_TOPOLOGY, asks_for_any_host, level_of
from trainyard.eks.settings.launcher import launcher_of as pool_launcher
from trainyard.plan.context import Context
from trainyard.plan.scheduling import RESERVATION_LABEL


def explain(context: Context, job: Job) -> None:
    target, pool = job.target, job.pool
    zones: dict[str, None] = {}
    for known in job.pools:
        zones |= dict.fromkeys(known.zones)
    if job.others:
        there = "each pool is in one of them"
    else:
        there = f"pool {pool.name} is there"
    context.derive(target, "zone", ", ".join(zones), there, follows=pool.at)
    context.derive(
        target,
        "tolerations",
        ", ".join(map(str, pool.taints)),
        f"the taints of pool {pool.name}",
        follows=pool.at,
    )
    _explain_restarts(context, job)
    for annotation in pool_launcher(pool).protection:
        context.derive(
            target,
            "disruption",
            annotation,
            "a node that is emptied to save money would end the whole gang",
            "karpenter.sh/v1, v1.14.1",
        )
    if job.spec.runtime is None:
        context.derive(
            target,
            "priorityClass",
            POD_PRIORITY,
            "above best-effort pods, never preempting: Kueue decides",
        )
    _explain_topology(context, job)


def _explain_restarts(context: Context, job: Job) -> None:
    launcher_of(job).explain(context, job)
    kind = kind_of(job)
    kind.explain(context, job)
    if job.spec.runtime is not None:
        return
    retried = kind.retried
    restarts = launcher_of(job).restarts(job)
    if restarts and begins_at_step_0(job):
        retried += "; few, since it has nowhere to save and begins at step 0 each time"
    context.settle(
        job.target, "retries", job.spec.retries, restarts, retried, at=job.at / "retries"
    )
    kind.explain_restart(context, job)


def _explain_topology(context: Context, job: Job) -> None:
    level = level_of(job)
    given = job.spec.topology
    if level is None and given is None:
        if asks_for_any_host(job):
            context.derive(
                job.target,
                "topology",
                "any host",
                f"pool {job.pool.name} has a topology and another pool of the queue has none: Kueue gives its nodes "
                "only to pods that ask for one",
                UNCONSTRAINED_TOPOLOGY,
            )
        return
    by = "reservation" if level == RESERVATION_LABEL else "EC2's network layers"
    context.settle(
        job.target,
        "topology",
        f"{given.chosen} {given.level}" if given else None,
        level,
        f"pool {job.pool.name} is placed by {by}",
        "kueue.x-k8s.io/podset-preferred-topology",
        at=job.at / "topology",
    )
