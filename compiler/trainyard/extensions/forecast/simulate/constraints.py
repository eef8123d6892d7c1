"""What may keep a job from ever being admitted, each as something that can be dropped.

A set of constraints that excludes a job is made irreducible by dropping one after the other: what can go without the
job being admitted is no reason (a deletion filter; Chinneck and Dravnieks 1991, "Locating minimal infeasible constraint
sets in linear programs").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from trainyard.core.pods.plan import ACCELERATORS
from trainyard.extensions.forecast.simulate.objects import (
    Cell,
    Group,
    Job,
    Limits,
    LocalQueue,
    Node,
    Placement,
    Queue,
)
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import World

_PLENTY = 1 << 62
_MANY = 1_000_000


class Constraint(NamedTuple):
    """A constraint: of a ``kind``, about a flavor or a resource or nothing of the kind."""

    kind: str
    about: str = ""
    resource: str = ""


def fits_alone(world: World, job: Job) -> bool:
    """Whether a job is admitted where no other one is."""
    simulator = Simulator(world)
    simulator.submit(job)
    simulator.settle()
    return simulator.works[job.key].admission is not None


def conflict(world: World, job: Job) -> tuple[Constraint, ...]:
    """The constraints that exclude a job, of which none could be left out; none if it is excluded by something else."""
    local = _local(world, job)
    if queue_of(world, job) is None:
        return (Constraint("queue"),)
    known = list(_constraints(world, job, local))
    dropped: list[Constraint] = []
    if not fits_alone(*_without(world, job, local, known)):
        return ()
    for constraint in known:
        fewer = [*dropped, constraint]
        if not fits_alone(*_without(world, job, local, fewer)):
            dropped = fewer
    return tuple(each for each in known if each not in dropped)


def _local(world: World, job: Job) -> LocalQueue | None:
    for local in world.local_queues:
        if (local.namespace, local.name) == (job.namespace, job.queue):
            return local
    return None


def queue_of(world: World, job: Job) -> Queue | None:
    """The queue of a job, if it has one."""
    local = _local(world, job)
    if local is None:
        return None
    return next((queue for queue in world.queues if queue.name == local.queue), None)


def _constraints(world: World, job: Job, local: LocalQueue | None) -> Iterator[Constraint]:
    """All that could matter. Accelerators come last, so that of several resources that are short they are named."""
    queue = queue_of(world, job)
    if local is None or queue is None:
        return
    resources = sorted(_resources(job), key=lambda name: (name in ACCELERATORS, name))
    flavors = [flavor for group in queue.groups for flavor in group.flavors]
    yield from (Constraint("uncovered", resource=name) for name in resources)
    yield from (
        Constraint("quota", flavor, name)
        for name in resources
        for flavor in flavors
        if Cell(flavor, name) in queue.quotas
    )
    yield Constraint("namespace")
    yield Constraint("stopped")
    yield Constraint("selector")
    for flavor in flavors:
        if flavor in world.flavors and world.flavors[flavor].taints:
            yield Constraint("taints", flavor)
    if any(each.placement is not None for each in job.pod_sets):
        yield Constraint("placement")
    if any(flavor in world.flavors and world.flavors[flavor].topology for flavor in flavors):
        yield Constraint("nodes")


def _resources(job: Job) -> set[str]:
    return {name for each in job.pod_sets for name, amount in each.requests.items() if amount}


def _without(
    world: World, job: Job, local: LocalQueue | None, dropped: Iterable[Constraint]
) -> tuple[World, Job]:
    """The world and the job with constraints dropped."""
    by_kind: dict[str, list[Constraint]] = {}
    for constraint in dropped:
        by_kind.setdefault(constraint.kind, []).append(constraint)
    queue = queue_of(world, job)
    if local is None or queue is None:
        return world, job
    quotas = dict(queue.quotas)
    for constraint in by_kind.get("quota", ()):
        quotas[Cell(constraint.about, constraint.resource)] = Limits(_PLENTY, None, 0)
    groups = list(queue.groups)
    for constraint in by_kind.get("uncovered", ()):
        if queue.group_of(constraint.resource) is None:
            groups, quotas = _covered(groups, quotas, constraint.resource)
    freed = replace(queue, groups=tuple(groups), quotas=quotas)
    if "namespace" in by_kind:
        freed = replace(freed, selector={})
    if "stopped" in by_kind:
        freed = replace(freed, stopped="None")
        local = replace(local, stopped="None")
    open_flavors = {constraint.about for constraint in by_kind.get("taints", ())}
    flavors = {
        name: replace(flavor, taints=()) if name in open_flavors else flavor
        for name, flavor in world.flavors.items()
    }
    nodes = world.nodes
    if "nodes" in by_kind:
        nodes = tuple(map(_vast, nodes))
    if "selector" in by_kind:
        sets = tuple(replace(each, selector={}, terms=()) for each in job.pod_sets)
        job = replace(job, pod_sets=sets)
    if "placement" in by_kind:
        job = anywhere(job)
    world = replace(
        world,
        flavors=flavors,
        nodes=nodes,
        queues=tuple(freed if each.name == queue.name else each for each in world.queues),
        local_queues=tuple(
            local if (each.namespace, each.name) == (local.namespace, local.name) else each
            for each in world.local_queues
        ),
    )
    return world, job


def _covered(
    groups: list[Group], quotas: dict[Cell, Limits], resource: str
) -> tuple[list[Group], dict[Cell, Limits]]:
    """With a resource covered, in the first group of the queue, without an end."""
    if not groups:
        return groups, quotas
    first = groups[0]
    added = {Cell(flavor, resource): Limits(_PLENTY, None, 0) for flavor in first.flavors}
    covering = Group(first.resources | {resource}, first.flavors)
    return [covering, *groups[1:]], quotas | added


def _vast(node: Node) -> Node:
    room = {name: max(1, amount) * _MANY for name, amount in node.allocatable.items()}
    return replace(node, allocatable=room)


def anywhere(job: Job, mode: str = "unconstrained") -> Job:
    """The job without a level that it requires: placed anywhere, or with ``preferred`` near each other if it can be."""
    sets = []
    for each in job.pod_sets:
        placement = each.placement
        if placement is not None:
            level = placement.level if mode == "preferred" else None
            placement = Placement(mode if level else "unconstrained", level)
        sets.append(replace(each, placement=placement))
    return replace(job, pod_sets=tuple(sets))
