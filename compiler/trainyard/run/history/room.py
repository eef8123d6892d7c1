"""Runs that were submitted, held against the room that nodes have now.

A run keeps the size that it was submitted with. What takes room on nodes since then, an add-on, a step of the release,
values of a chart or a DaemonSet of one's own, leaves less for its pods: those that run go on, and one that starts again
stays Pending ("Insufficient memory", as kube-scheduler 1.36.3 said of such a run).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.core.pods.plan import HEAD, Resources
from trainyard.core.pools.plan import NodeShare
from trainyard.eks.jobs.plan import StandingRun
from trainyard.judge.model.amounts import summed
from trainyard.judge.model.gangs import pod_sets
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import listed, warning
from trainyard.language.places import Route
from trainyard.language.units import Quantity

_JOBS = Route(("spec", "jobs"))
_COUNTED = ("cpu", "memory")
_CRITICAL = (
    "agents that find no room on its nodes stay Pending; one of priority `system-node-critical` ends a pod of the run"
    " to get it (Kubernetes, Pod Priority and Preemption)"
)


def stranded_runs(reading: Reading, standing: Sequence[StandingRun]) -> Iterator[Diagnostic]:
    """A warning on each run that fits on no node of its pools any more."""
    if not any(run.pools for run in standing):
        return
    works = {(work.namespace, work.job.name): work for work in reading.works}
    for run in standing:
        work = works.get((run.namespace, run.name))
        asks = _of_node(work) if work is not None else _of_left(run)
        shares = [reading.plan.named(NodeShare, pool) for pool in run.pools]
        known = [share for share in shares if share is not None and share.left]
        if not known or len(known) < len(run.pools):
            continue
        lacking = [_lacking(asks, share) for share in known]
        if all(lacking):
            yield _stranded(run, work, asks, known[0], lacking[0])


def _of_node(work: Work) -> Resources:
    """What the pods of a job ask for on one of its nodes: as many as share it, and Ray's head beside them."""
    heads = [asks for part, _, asks in work.others if part.step == HEAD]
    a_node = min(work.job.pods_a_node, work.nodes or 1)
    nodes = [each for each in pod_sets(work) if not each.initializes and each.asks not in heads]
    largest: dict[str, Quantity] = {}
    for resource in _COUNTED:
        amounts = [each.asks[resource] * a_node for each in nodes if resource in each.asks]
        if amounts:
            largest[resource] = max(amounts)
    return summed([largest, *heads])


def _of_left(run: StandingRun) -> Resources:
    largest: dict[str, Quantity] = {}
    for pods in run.pods:
        for resource in _COUNTED:
            if resource in pods.asks:
                largest[resource] = max(pods.asks[resource], largest.get(resource, Quantity(0)))
    return largest


def _lacking(asks: Resources, share: NodeShare) -> list[str]:
    """The resources of which a node has less than is asked for."""
    return [name for name in _COUNTED if name in asks and asks[name] > share.left[name]]


def _stranded(
    run: StandingRun, work: Work | None, asks: Resources, share: NodeShare, lacking: Iterable[str]
) -> Diagnostic:
    wanted = [f"{_shown(name, asks)} of {name}" for name in lacking]
    there = [_shown(name, share.left) for name in lacking]
    taken = ", ".join(f"{_shown(name, share.agents)} of {name}" for name in share.agents)
    notes = [f"DaemonSets take {taken} of each node"] if _is_any(share.agents) else []
    if work is not None:
        again = f"write `rerun: {work.job.rerun + 1}` to start it again with what nodes have now"
    else:
        again = "it has no job any more: end it, and submit a new one, if it loses a pod"
    return warning(
        "CHG047",
        f"run `{run.name}` of job `{run.job}` asks for {' and '.join(wanted)} a node, and nodes of"
        f" {_pools(run)} now have {' and '.join(there)} for it",
        work.at if work is not None else _JOBS,
        key=True,
        label="it goes on; a pod of it that starts again stays Pending, and with it the run",
        notes=(*notes, _CRITICAL),
        help=f"{again}; or leave out what takes the room until it has ended",
    )


def _shown(resource: str, amounts: Resources) -> str:
    """An amount in the unit in which it may be too little."""
    amount = amounts[resource]
    return f"{amount.milli}m" if resource == "cpu" else f"{amount.value // 2**20}Mi"


def _pools(run: StandingRun) -> str:
    word = "pool" if len(run.pools) == 1 else "pools"
    return f"{word} {listed(run.pools)}"


def _is_any(amounts: Mapping[str, Quantity]) -> bool:
    return any(amount > Quantity(0) for amount in amounts.values())
