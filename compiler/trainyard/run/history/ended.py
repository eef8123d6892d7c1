"""Runs that the spec says have ended: nobody has looked whether they have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.core.jobs.spec import JobsSection
from trainyard.eks.kueue.lower import FOLDER
from trainyard.eks.kueue.plan import LocalQueue
from trainyard.eks.nodes.lower import FOLDER as PLATFORM
from trainyard.eks.nodes.plan import NodePool
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import warning
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.places import Route
from trainyard.output.lowering.body import object_path
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.run.history.committed import Committed
from trainyard.run.history.earlier import lost_by
from trainyard.run.history.runs import ENDED, Run

_JOBS = Route(("spec", "jobs"))
_QUEUE = "LocalQueue"


def ended_now(
    known: Iterable[Run], current: Iterable[Run], spec: ClusterSpec, plan: Plan
) -> Iterator[Diagnostic]:
    """Of each run that ends by this edit of the spec, what follows if it goes on. A warning where something that it
    needs leaves at the same time."""
    before = {run.key for run in known if run.state != ENDED}
    for run in current:
        if run.state != ENDED or run.key not in before:
            continue
        lost = [thing for _, thing in lost_by(run, spec, plan)]
        severity = Severity.WARNING if lost else Severity.NOTE
        leaves = f", and {', '.join(lost)} leaves the spec" if lost else ""
        yield Diagnostic(
            "CHG048",
            severity,
            f"run `{run.object}` of job `{run.job}` is said to have ended{leaves}",
            _said(run, spec),
            key=True,
            label="if it goes on it keeps its nodes, and nothing here counts them or keeps what it needs",
            help=f"look first: `{run.shown_with()}`; `{run.ends_with()}` ends it",
        )


def _said(run: Run, spec: ClusterSpec) -> Route:
    """Where the spec says that a run has ended."""
    section = JobsSection.of(spec)
    for index, job in enumerate(section.jobs):
        if job.name == run.job and job.completed:
            return _JOBS / index / "completed"
    for index, name in enumerate(section.completed_runs):
        if name == run.object:
            return Route(("spec", "completedRuns", index))
    return _JOBS


def added_again(
    known: Iterable[Run], plan: Plan, committed: Committed, manifests: Sequence[Manifest]
) -> Iterator[Diagnostic]:
    """A warning on each queue and each pool that comes back while a run in it is only said to have ended."""
    like = next(iter(manifests))
    for run in known:
        if run.state != ENDED:
            continue
        queue = plan.named(LocalQueue, run.queue, run.namespace)
        if queue is not None:
            path = object_path(FOLDER, _QUEUE, run.queue, run.namespace)
            ref = f"{_QUEUE}/{run.namespace}/{run.queue}"
            if committed.manifest(ref, path, like) is None:
                thing = f"queue `{queue.cluster_queue}`"
                kept = "the old queue is Terminating, and takes no jobs until Flux makes a new one"
                look = f"`kubectl get clusterqueue {queue.cluster_queue}`"
                yield _added_again(run, thing, queue.at, kept, look)
        for pool in plan.of(NodePool):
            if pool.title != run.pool or not pool.prune:
                continue
            name = pool.node_class
            kind = "NodeClass" if pool.auto else "EC2NodeClass"
            path = object_path(PLATFORM, kind, name)
            if committed.manifest(f"{kind}/{name}", path, like) is None:
                thing = f"pool `{pool.title}`"
                kept = "the old class of its nodes is Terminating, and Flux makes a new one once its nodes are gone"
                look = f"`kubectl get ec2nodeclass {name}`"
                if pool.auto:
                    look = f"`kubectl get nodeclass {name}`"
                yield _added_again(run, thing, pool.at, kept, look)


def _added_again(run: Run, thing: str, at: Route, kept: str, look: str) -> Diagnostic:
    return warning(
        "CHG049",
        f"{thing} is added again, and run `{run.object}` that was in it is only said to have ended",
        at,
        key=True,
        label=f"if that run goes on {kept}",
        help=f"look first: {look}; `{run.ends_with()}` ends the run",
    )
