"""Runs that the spec no longer asks for: they continue, so what they need must stay."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from trainyard.core.jobs.spec import JobsSection
from trainyard.core.pools.spec import PoolsSection
from trainyard.core.queues.spec import QueuesSection
from trainyard.core.storage.spec import StorageSection
from trainyard.eks.flux.plan import HelmRelease, Stage
from trainyard.eks.flux.stages import FLUX
from trainyard.eks.jobs.kinds import kind_called
from trainyard.eks.jobs.plan import Operator, TrainJob
from trainyard.eks.kueue.plan import LocalQueue, WorkloadPriority
from trainyard.eks.teams.plan import Namespace, ResourceQuota
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import error, listed
from trainyard.language.diagnostics.words import numbered
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan import Plan
from trainyard.run.history.landing import Landing, landing, lost_landing
from trainyard.run.history.runs import ENDED, LEFT, Run
from trainyard.run.history.standing import Pods

_SPEC = Route(("spec",))
_SHOWN = 5  # runs that one message names
_FINALIZED = ("namespaces", "queues")
"""The sections whose objects stay Terminating as long as a run is in them."""
_Need = tuple[str, str]
"""A section of the spec, and words for what a run needs of it."""


def earlier_runs(
    remembered: Iterable[Run],
    current: Iterable[Run],
    spec: ClusterSpec,
    landed: Callable[[str], Landing],
    pods: Callable[[Run], Pods],
) -> list[Run]:
    """What is still remembered of runs that the spec does not ask for.

    One that has ended is remembered as long as the spec says so, so that nothing runs it again. ``landed``: what the
    nodes of a pool were until now; ``pods``: those of a run, while it is committed.
    """
    asked_for = {run.key for run in current}
    section = JobsSection.of(spec)
    done = {job.name for job in section.jobs if job.completed}
    ended = set(section.completed_runs)
    earlier = []
    for run in remembered:
        if run.key in asked_for:
            continue
        if run.job in done or run.object in ended:
            earlier.append(replace(run, state=ENDED))
        elif run.state != ENDED:
            landing = run.landing
            if run.pool and not landing:
                landing = landed(run.pool)
            earlier.append(replace(run, landing=landing, pods=run.pods or pods(run), state=LEFT))
    return earlier


def lost_needs(
    earlier: Iterable[Run], asked_for: Container[str], spec: ClusterSpec, plan: Plan
) -> list[Diagnostic]:
    """What leaves the spec although a run may still need it: one error for each thing.

    ``asked_for``: the objects of runs for which git asks until this edit is merged.
    """
    users: dict[_Need, list[Run]] = {}
    for run in earlier:
        is_asked_for = run.object in asked_for
        if not run.left and not is_asked_for:
            continue
        for need in lost_by(run, spec, plan):
            section, _ = need
            # Until the merge Flux makes the run again where it was deleted, and then deletes what holds it.
            if run.left or section in _FINALIZED:
                users.setdefault(need, []).append(run)
    errors = []
    for (section, thing), runs in users.items():
        until_merged = any(run.object in asked_for for run in runs)
        errors.append(_needed_error(section, thing, runs, until_merged=until_merged))
    return errors


def lost_by(run: Run, spec: ClusterSpec, plan: Plan) -> Iterator[_Need]:
    """Section of the spec and words for each thing that a run needs and would lose."""
    node_pools = PoolsSection.of(spec).node_pools
    pools = {pool.name: pool.nodes.max for pool in node_pools}
    namespace = f"namespace `{run.namespace}`"
    queue = plan.named(LocalQueue, run.queue, run.namespace)
    if plan.named(Namespace, run.namespace) is None:
        yield "namespaces", namespace
    elif run.queue and queue is None:
        yield "queues", f"queue `{run.queue}` of {namespace}"
    else:
        admitted_by = queue.cluster_queue if queue is not None else run.queue
        share = list(_lost_share(run, admitted_by, pools, spec))
        yield from share or _lost_quota(run, plan)
    yield from _lost_nodes(run, pools, plan)
    operator = kind_called(run.kind).operator
    if operator and not _is_installed(operator, plan):
        yield "jobs", f"operator `{operator}`"
    storages = StorageSection.of(spec).storage
    storage_names = {storage.name for storage in storages}
    for name in run.storage:
        if name not in storage_names:
            yield "storage", f"storage `{name}`"
    if run.priority and plan.named(WorkloadPriority, run.priority) is None:
        yield "priorities", f"priority `{run.priority}`"


def _is_installed(operator: str, plan: Plan) -> bool:
    """Whether an operator is there, as a chart, as a folder of its repository, or by the platform."""
    if plan.named(Stage, operator, FLUX) is not None or plan.named(Operator, operator) is not None:
        return True
    return plan.named(HelmRelease, operator, FLUX) is not None


def _lost_nodes(run: Run, pools: Mapping[str, int], plan: Plan) -> Iterator[tuple[str, str]]:
    for fallback in run.fallbacks:
        if fallback not in pools:
            yield "nodePools", f"pool `{fallback}`"
    pool = f"pool `{run.pool}`"
    if run.pool and run.pool not in pools:
        yield "nodePools", pool
        return
    if run.pool and pools[run.pool] < run.nodes:
        yield "nodePools", f"node {run.nodes} of {pool}"
        return
    offered = landing(plan, run.pool)
    for what in lost_landing(run.landing, offered):
        yield "nodePools", f"{what} of {pool}"


def _lost_share(
    run: Run, admitted_by: str | None, pools: Mapping[str, int], spec: ClusterSpec
) -> Iterator[tuple[str, str]]:
    """A queue with too few nodes of the pool, borrowed ones included: Kueue would never admit the run again."""
    if run.pool not in pools:
        return
    for queue in QueuesSection.of(spec).queues:
        if queue.name != admitted_by:
            continue
        share = 0
        for quota in queue.quota:
            if quota.pool != run.pool:
                continue
            share += quota.nodes
            if not queue.cohort:
                continue
            limit = quota.borrowing_limit
            share += pools[run.pool] if limit is None else limit
        if share < run.nodes:
            nodes = f"{run.nodes} nodes of pool `{run.pool}`"
            yield "queues", f"quota for {nodes} in queue `{queue.name}`"


def _lost_quota(run: Run, plan: Plan) -> Iterator[_Need]:
    """A ResourceQuota below what the run holds: the API server refuses its pods once they are created again."""
    for quota in plan.of(ResourceQuota):
        if quota.namespace != run.namespace:
            continue
        for resource, count in run.accelerators.items():
            ceiling = quota.hard.get(f"requests.{resource}")
            if ceiling is None or ceiling >= Quantity.of(count):
                continue
            yield ("namespaces", f"quota for {count} {resource} in namespace `{run.namespace}`")


def _needed_error(
    section: str, thing: str, runs: Sequence[Run], *, until_merged: bool
) -> Diagnostic:
    objects = [run.object for run in runs]
    need = f"{len(runs)} runs need it"
    if len(runs) == 1:
        need = f"run {listed(objects)} needs it"
    notes = []
    for run in runs[:_SHOWN]:
        name = f"`{run.object}` of job `{run.job}`"
        notes.append(f"{name}: `{run.ends_with()}` ends it")
    names = ", ".join(objects)
    ended = f"`completedRuns: [{names}]`"
    if until_merged:
        help = (
            "keep it in this commit; end the run when that is merged, since Flux makes again what git asks for; "
            f"let it leave in the next commit, with {ended} under `spec`"
        )
    else:
        help = f"keep it until then; what has ended is named under `spec`: {ended}, or by `completed: true` in its job"
    return error(
        "CHG001",
        f"{thing} leaves the spec, and {need}",
        _SPEC / section,
        label="a run that the spec no longer asks for goes on until it ends or is deleted",
        key=True,
        notes=tuple(notes),
        help=help,
    )


def earlier_runs_note(earlier: Iterable[Run], plan: Plan) -> list[Diagnostic]:
    """The note on runs that go on: the nodes that they hold, and how to end them."""
    runs = [run for run in earlier if run.left]
    if not runs:
        return []
    message = f"{len(runs)} earlier runs go on until they end or are deleted: the spec no longer asks for them"
    if len(runs) == 1:
        message = (
            "an earlier run goes on until it ends or is deleted: the spec no longer asks for it"
        )
    shown = runs[:_SHOWN]
    notes = [f"{_holds(run)}; `{run.ends_with()}` ends it" for run in shown]
    more = len(runs) - len(shown)
    if more:
        notes.append(f"and {more} more: `trainyard report` lists them")
    names = ", ".join(run.object for run in runs)
    return [
        Diagnostic(
            "CHG003",
            Severity.NOTE,
            message,
            _of_one_job(runs, plan) or _SPEC / "jobs",
            key=True,
            notes=tuple(notes),
            help=f"once ended, name it under `spec`, and it is forgotten: `completedRuns: [{names}]`; "
            f"`--replace {runs[0].object}` if it was never pushed",
        )
    ]


def _of_one_job(runs: Sequence[Run], plan: Plan) -> Route | None:
    """The place of the one job of the spec whose runs they are."""
    names = {run.job for run in runs}
    for job in plan.of(TrainJob):
        if names == {job.source_name}:
            return job.at
    return None


def replaced_runs_note(
    replaced: Iterable[Run], current: Iterable[Run], plan: Plan
) -> Iterator[Diagnostic]:
    """The note on each run that is forgotten since it was never pushed, and what ends it if it was."""
    asked_for = {run.key for run in current}
    for run in replaced:
        if run.key in asked_for:
            continue
        yield Diagnostic(
            "CHG029",
            Severity.NOTE,
            f"run `{run.object}` of job `{run.job}` is forgotten, and goes on beside the new one unless"
            " it was never pushed, as `--replace` says",
            _of_one_job([run], plan) or _SPEC / "jobs",
            key=True,
            label="nothing counts its nodes and its quota any more",
            help=f"if it was pushed, `{run.ends_with()}` ends it; or undo this, and write `rerun: {run.rerun + 1}`",
        )


def unreadable_run_errors(paths: Iterable[str]) -> list[Diagnostic]:
    """Files of runs that cannot be read: what they remember could run a second time."""
    return [
        error(
            "CHG008",
            f"`{path}` cannot be read, and the run that it remembers may still be there",
            _SPEC / "jobs",
            key=True,
            label="its job could be submitted a second time",
            help="restore it from version control, in a merge from one of the two sides; "
            "if the run was never pushed, delete it and the job's file under `jobs/`",
        )
        for path in paths
    ]


def forgotten_run_errors(paths: Iterable[str]) -> list[Diagnostic]:
    """TrainJobs whose run nobody remembers any more."""
    return [
        error(
            "CHG008",
            f"`{path}` was submitted, and its file under `runs/` is gone",
            _SPEC / "jobs",
            key=True,
            label="its job could be submitted a second time",
            help="restore that file from version control; if the run was never pushed, delete this one too",
        )
        for path in paths
    ]


def _holds(run: Run) -> str:
    name = f"`{run.object}` of job `{run.job}`"
    if not run.nodes:
        return name
    return f"{name} holds {numbered(run.nodes, 'node')} of pool `{run.pool}`"


def ended_runs_faults(
    earlier: Iterable[Run], current: Iterable[Run], spec: ClusterSpec
) -> list[Diagnostic]:
    """Names under ``completedRuns`` that end nothing: those of jobs of the spec, and those that no run has."""
    ended = {run.object for run in earlier}
    asked_for = {run.object: run.job for run in current}
    diagnostics = []
    ended_runs = JobsSection.of(spec).completed_runs
    for index, name in enumerate(ended_runs):
        at = _SPEC / "completedRuns" / index
        job = asked_for.get(name)
        if job is not None:
            diagnostics.append(
                error(
                    "CHG005",
                    f"run `{name}` is what job `{job}` asks for",
                    at,
                    help=f"write `completed: true` in job `{job}`, or remove `{name}` here",
                )
            )
        elif name not in ended:
            diagnostics.append(
                Diagnostic(
                    "CHG005",
                    Severity.NOTE,
                    f"no run `{name}` is remembered",
                    at,
                    help="remove it; the name is that of a TrainJob, as `kubectl get trainjobs -n NAMESPACE` shows it",
                )
            )
    return diagnostics
