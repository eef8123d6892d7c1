"""Runs that are in the cluster already, by what is committed: items of the plan, with the pods that they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.catalog import Catalog
from trainyard.eks.jobs.plan import TRAIN_JOB, RunPods, StandingRun
from trainyard.judge.model.gangs import pod_sets
from trainyard.judge.model.reading import Reading
from trainyard.language.units import Quantity
from trainyard.lift import lift
from trainyard.output.body import value_at
from trainyard.output.manifest import Manifest
from trainyard.run.history.committed import Committed
from trainyard.run.history.keep import kept_runtime
from trainyard.run.history.runs import SUBMITTED, Run

Pods = tuple[tuple[int, Mapping[str, str]], ...]


def standing_runs(known: Iterable[Run], current: Iterable[Run]) -> Iterator[StandingRun]:
    """The runs that go on: those that were submitted before and are still asked for, and those that are not.

    ``current``: all runs to remember; ``known``: those that are committed.
    """
    before = {run.key for run in known}
    for run in current:
        is_submitted = run.state == SUBMITTED and run.key in before
        if run.left or is_submitted:
            yield _standing(run)


def _standing(run: Run) -> StandingRun:
    pools = (run.pool, *run.fallbacks) if run.pool else ()
    return StandingRun(
        name=run.object,
        namespace=run.namespace,
        job=run.job,
        queue=run.queue,
        priority=run.priority,
        pools=pools,
        left=run.left,
        pods=tuple(_pods_of(run)),
    )


def _pods_of(run: Run) -> Iterator[RunPods]:
    """What was noted; of a run that left before pods were noted, its nodes with their accelerators."""
    for count, asks in run.pods:
        yield RunPods(count, {name: Quantity.parse(amount) for name, amount in asks.items()})
    if not run.pods and run.nodes:
        devices = run.accelerators.items()
        yield RunPods(run.nodes, {name: Quantity.of(count // run.nodes) for name, count in devices})


def committed_pods(
    run: Run, committed: Committed, manifests: Sequence[Manifest], catalog: Catalog
) -> Pods:
    """The pods of a run by its committed object; none where that cannot be read."""
    like = next(iter(manifests))
    job = committed.manifest(run.ref, run.committed_path, like)
    if job is None:
        return ()
    objects = [job]
    if run.kind == TRAIN_JOB:
        runtime = kept_runtime(
            committed, str(value_at(job.body, "spec", "runtimeRef", "name")), like
        )
        if runtime is None:
            return ()
        objects.append(runtime)
    reading = Reading(lift(objects, closed=True), catalog, objects)
    return tuple(
        (pods.count, {name: str(amount) for name, amount in sorted(pods.asks.items())})
        for work in reading.works
        for pods in pod_sets(work)
        if pods.count
    )
