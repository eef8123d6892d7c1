"""Constraints in sentences."""

from __future__ import annotations

from trainyard.extensions.forecast.simulate.constraints import Constraint, queue_of
from trainyard.extensions.forecast.simulate.objects import Cell, Job, Limits
from trainyard.extensions.forecast.simulate.quota import NOTHING
from trainyard.extensions.forecast.simulate.state import State, World
from trainyard.language.diagnostics.words import numbered

_BYTES = frozenset({"memory", "ephemeral-storage"})


def sentence(world: World, job: Job, constraint: Constraint) -> str:
    """A constraint that excludes a job, with the numbers that are in it."""
    queue = queue_of(world, job)
    name = queue.name if queue else ""
    asked = _total(job, constraint.resource)
    if constraint.kind == "quota":
        cell = Cell(constraint.about, constraint.resource)
        limits = queue.quotas.get(cell, NOTHING) if queue else NOTHING
        most = State(world).accounts[name].most(cell) if queue else 0
        return (
            f"quota: queue `{name}` can get {shown(cell.resource, most)} {cell.resource} of `{cell.flavor}`"
            f" ({_parts(cell.resource, limits)}), the job asks for {shown(cell.resource, asked)}"
        )
    words = {
        "queue": f"namespace `{job.namespace}` has no queue `{job.queue}`",
        "uncovered": f"queue `{name}` has no quota of {constraint.resource}, the job asks for"
        f" {shown(constraint.resource, asked)}",
        "namespace": f"queue `{name}` does not take jobs of namespace `{job.namespace}`",
        "stopped": f"queue `{name}` is stopped",
        "selector": "its node selector or affinity",
        "taints": f"the taints of flavor `{constraint.about}`",
        "placement": f"topology: {_placement(job)}",
        "nodes": f"nodes: {_nodes(world, job)} of its flavors, for {numbered(_pods(job), 'pod')}",
    }
    return words[constraint.kind]


def _pods(job: Job) -> int:
    return sum(each.count for each in job.pod_sets)


def _nodes(world: World, job: Job) -> int:
    """The nodes of the flavors of a job's queue."""
    queue = queue_of(world, job)
    names = {flavor for group in queue.groups for flavor in group.flavors} if queue else set()
    labels = [world.flavors[name].labels for name in names if name in world.flavors]
    return sum(any(each.items() <= node.labels.items() for each in labels) for node in world.nodes)


def _total(job: Job, resource: str) -> int:
    return sum(each.requests.get(resource, 0) * each.count for each in job.pod_sets)


def _parts(resource: str, limits: Limits) -> str:
    parts = [f"{shown(resource, limits.nominal)} of its own"]
    if limits.borrowing is not None:
        parts.append(f"{shown(resource, limits.borrowing)} borrowed at most")
    return ", ".join(parts)


def _placement(job: Job) -> str:
    found = []
    for each in job.pod_sets:
        if each.placement is not None:
            level = f" `{each.placement.level}`" if each.placement.level else ""
            found.append(f"{each.count} pods, {each.placement.mode}{level}")
    return "; ".join(found)


def shown(resource: str, amount: int) -> str:
    """An amount as people write it: CPUs, and memory in Gi."""
    if resource == "cpu":
        return f"{amount / 1000:g}"
    if resource in _BYTES or resource.startswith("hugepages-"):
        return f"{amount / 1024**3:.6g}Gi"
    return str(amount)
