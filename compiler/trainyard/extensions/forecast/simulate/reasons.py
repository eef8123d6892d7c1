"""Why a job is not admitted, and what would help.

The jobs for which it waits, or the constraints that exclude it, and the smallest changes that would let it in.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from trainyard.core.pods.plan import ACCELERATORS
from trainyard.extensions.forecast.simulate.admission import Assigner
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
from trainyard.extensions.forecast.simulate.quota import NOTHING
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import Mode, State, Work, World, precedence
from trainyard.language.diagnostics.words import numbered

# For whom a job waits: admitted jobs without which it would fit, as few as none can be left out.


def blockers(state: State, work: Work) -> list[Work]:
    """The admitted jobs for which a job waits; none if it would fit beside all, or without any.

    Jobs of its cohorts are taken away, the last admitted of the lowest priority first, until it fits, then those of
    others on its nodes. Then all that it fits beside come back, in the reverse order, so that what remains could most
    easily go. Ever more are taken away and come back at once, and fewer again where that was too many: the fewer jobs
    remain, the fewer tries it takes.
    """
    gone = _without_which_it_fits(state, work)
    back = list(reversed(gone))
    found: list[Work] = []
    index, step = 0, 1
    while index < len(back):
        some = back[index : index + step]
        _count_all(state, some, 1)
        if _fits_now(state, work):
            index += len(some)
            step *= 2
            continue
        _count_all(state, some, -1)
        if len(some) == 1:
            found.append(some[0])
            index += 1
        step = max(1, len(some) // 2)
    _count_all(state, found, 1)
    return list(reversed(found))


def _without_which_it_fits(state: State, work: Work) -> list[Work]:
    """Enough jobs, which are gone from the books; none if the job does not fit without any."""
    gone: list[Work] = []
    for admitted in _related_jobs(state, work):
        taken = 0
        while taken < len(admitted):
            if _fits_now(state, work):
                return gone
            more = admitted[taken : 2 * taken + 1]
            _count_all(state, more, -1)
            taken += len(more)
            gone += more
    if _fits_now(state, work):
        return gone
    _count_all(state, gone, 1)
    return []


def _count_all(state: State, works: Sequence[Work], sign: int) -> None:
    for work in works:
        state.count(work, sign)


def _related_jobs(state: State, work: Work) -> Iterator[list[Work]]:
    """The admitted jobs that share quotas with the queue, then those that share nodes; of each the least important
    first."""
    tree = state.tree_of[work.queue]
    queues = [queue for queue in state.works if state.tree_of[queue] == tree]
    yield sorted((each for queue in queues for each in state.works[queue].values()), key=precedence)
    hosts = [forest.leaves for forest in state.forests_of(work.queue).values()]
    if hosts:
        others = [queue for queue in state.works if state.tree_of[queue] != tree]
        works = (each for queue in others for each in state.works[queue].values())
        yield sorted((each for each in works if _is_in_any(each, hosts)), key=precedence)


def _is_in_any(work: Work, hosts: Sequence[Container[tuple[str, ...]]]) -> bool:
    """Whether pods of a job are in some domains."""
    return any(id in leaves for _, _, placed in work.places() for id in placed for leaves in hosts)


def _fits_now(state: State, work: Work) -> bool:
    work.progress = None
    return Assigner(state, work, preempts=False).assign().mode is Mode.FIT


# What may keep a job from ever being admitted, each as something that can be dropped.
#
# A set of constraints that excludes a job is made irreducible by dropping one after the other: what can go without the
# job being admitted is no reason (a deletion filter; Chinneck and Dravnieks 1991, "Locating minimal infeasible
# constraint sets in linear programs").


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
    local = _local_queue_of(world, job)
    if queue_of(world, job) is None:
        return (Constraint("queue"),)
    known = list(_possible_constraints(world, job, local))
    dropped: list[Constraint] = []
    if not fits_alone(*_with_dropped(world, job, local, known)):
        return ()
    for constraint in known:
        fewer = [*dropped, constraint]
        if not fits_alone(*_with_dropped(world, job, local, fewer)):
            dropped = fewer
    return tuple(each for each in known if each not in dropped)


def _local_queue_of(world: World, job: Job) -> LocalQueue | None:
    for local in world.local_queues:
        if (local.namespace, local.name) == (job.namespace, job.queue):
            return local
    return None


def queue_of(world: World, job: Job) -> Queue | None:
    """The queue of a job, if it has one."""
    local = _local_queue_of(world, job)
    if local is None:
        return None
    return next((queue for queue in world.queues if queue.name == local.queue), None)


def _possible_constraints(world: World, job: Job, local: LocalQueue | None) -> Iterator[Constraint]:
    """All that could matter. Accelerators come last, so that of several resources that are short they are named."""
    queue = queue_of(world, job)
    if local is None or queue is None:
        return
    resources = sorted(_asked_resources(job), key=lambda name: (name in ACCELERATORS, name))
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


def _asked_resources(job: Job) -> set[str]:
    return {name for each in job.pod_sets for name, amount in each.requests.items() if amount}


def _with_dropped(
    world: World, job: Job, local: LocalQueue | None, dropped: Iterable[Constraint]
) -> tuple[World, Job]:
    """The world and the job with constraints dropped."""
    by_kind: dict[str, list[Constraint]] = {}
    for constraint in dropped:
        by_kind.setdefault(constraint.kind, []).append(constraint)
    queue = queue_of(world, job)
    if local is None or queue is None:
        return world, job
    open_flavors = {constraint.about for constraint in by_kind.get("taints", ())}
    flavors = {
        name: replace(flavor, taints=()) if name in open_flavors else flavor
        for name, flavor in world.flavors.items()
    }
    nodes = world.nodes
    if "nodes" in by_kind:
        nodes = tuple(map(_vast_node, nodes))
    freed = _queue_with_dropped(queue, by_kind)
    freed_local = replace(local, stopped="None") if "stopped" in by_kind else local
    world = replace(
        world,
        flavors=flavors,
        nodes=nodes,
        queues=tuple(freed if each.name == queue.name else each for each in world.queues),
        local_queues=tuple(
            freed_local if (each.namespace, each.name) == (local.namespace, local.name) else each
            for each in world.local_queues
        ),
    )
    return world, _job_with_dropped(job, by_kind)


def _queue_with_dropped(queue: Queue, by_kind: Mapping[str, Sequence[Constraint]]) -> Queue:
    quotas = dict(queue.quotas)
    for constraint in by_kind.get("quota", ()):
        quotas[Cell(constraint.about, constraint.resource)] = Limits(_PLENTY, None, 0)
    groups = list(queue.groups)
    for constraint in by_kind.get("uncovered", ()):
        if queue.group_of(constraint.resource) is None:
            groups, quotas = _with_resource_covered(groups, quotas, constraint.resource)
    freed = replace(queue, groups=tuple(groups), quotas=quotas)
    if "namespace" in by_kind:
        freed = replace(freed, selector={})
    if "stopped" in by_kind:
        freed = replace(freed, stopped="None")
    return freed


def _job_with_dropped(job: Job, by_kind: Container[str]) -> Job:
    if "selector" in by_kind:
        sets = tuple(replace(each, selector={}, terms=()) for each in job.pod_sets)
        job = replace(job, pod_sets=sets)
    return anywhere(job) if "placement" in by_kind else job


def _with_resource_covered(
    groups: list[Group], quotas: dict[Cell, Limits], resource: str
) -> tuple[list[Group], dict[Cell, Limits]]:
    """With a resource covered, in the first group of the queue, without an end."""
    if not groups:
        return groups, quotas
    first = groups[0]
    added = {Cell(flavor, resource): Limits(_PLENTY, None, 0) for flavor in first.flavors}
    covering = Group(first.resources | {resource}, first.flavors)
    return [covering, *groups[1:]], quotas | added


def _vast_node(node: Node) -> Node:
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


# Constraints in sentences.


_BYTES = frozenset({"memory", "ephemeral-storage"})


def sentence(world: World, job: Job, constraint: Constraint) -> str:
    """A constraint that excludes a job, with the numbers that are in it."""
    queue = queue_of(world, job)
    name = queue.name if queue else ""
    asked = _asked_in_all(job, constraint.resource)
    if constraint.kind == "quota":
        cell = Cell(constraint.about, constraint.resource)
        limits = queue.quotas.get(cell, NOTHING) if queue else NOTHING
        most = State(world).accounts[name].most(cell) if queue else 0
        return (
            f"quota: queue `{name}` can get {amount_words(cell.resource, most)} {cell.resource} of `{cell.flavor}`"
            f" ({_quota_parts(cell.resource, limits)}), the job asks for {amount_words(cell.resource, asked)}"
        )
    words = {
        "queue": f"namespace `{job.namespace}` has no queue `{job.queue}`",
        "uncovered": f"queue `{name}` has no quota of {constraint.resource}, the job asks for"
        f" {amount_words(constraint.resource, asked)}",
        "namespace": f"queue `{name}` does not take jobs of namespace `{job.namespace}`",
        "stopped": f"queue `{name}` is stopped",
        "selector": "its node selector or affinity",
        "taints": f"the taints of flavor `{constraint.about}`",
        "placement": f"topology: {_placement_words(job)}",
        "nodes": f"nodes: {_nodes_of_flavors(world, job)} of its flavors, for {numbered(_pods_of(job), 'pod')}",
    }
    return words[constraint.kind]


def _pods_of(job: Job) -> int:
    return sum(each.count for each in job.pod_sets)


def _nodes_of_flavors(world: World, job: Job) -> int:
    """The nodes of the flavors of a job's queue."""
    queue = queue_of(world, job)
    names = {flavor for group in queue.groups for flavor in group.flavors} if queue else set()
    labels = [world.flavors[name].labels for name in names if name in world.flavors]
    return sum(any(each.items() <= node.labels.items() for each in labels) for node in world.nodes)


def _asked_in_all(job: Job, resource: str) -> int:
    return sum(each.requests.get(resource, 0) * each.count for each in job.pod_sets)


def _quota_parts(resource: str, limits: Limits) -> str:
    parts = [f"{amount_words(resource, limits.nominal)} of its own"]
    if limits.borrowing is not None:
        parts.append(f"{amount_words(resource, limits.borrowing)} borrowed at most")
    return ", ".join(parts)


def _placement_words(job: Job) -> str:
    found = []
    for each in job.pod_sets:
        if each.placement is not None:
            level = f" `{each.placement.level}`" if each.placement.level else ""
            found.append(f"{each.count} pods, {each.placement.mode}{level}")
    return "; ".join(found)


def amount_words(resource: str, amount: int) -> str:
    """An amount as people write it: CPUs, and memory in Gi."""
    if resource == "cpu":
        return f"{amount / 1000:g}"
    if resource in _BYTES or resource.startswith("hugepages-"):
        return f"{amount / 1024**3:.6g}Gi"
    return str(amount)


# The smallest changes that would let a job in, each tried out before it is named.
#
# More quota for its queue, in nodes of the job's own size; more nodes in a pool; fewer nodes for the job; and a level
# of the topology that it prefers instead of requires.


Try = Callable[[World, Job], bool]
"""Whether a changed world or job lets the job in, and harms no other one."""
_MOST_NODES = 4096


class Edit(NamedTuple):
    """A change; ``of_job`` where it is one of the job itself."""

    change: str
    of_job: bool = False

    def named(self, title: str) -> str:
        """The change in words, with what people call the job."""
        return f"{self.change} for `{title}`" if self.of_job else self.change


def edits(world: World, job: Job, pools: Mapping[str, str], lets_in: Try) -> list[Edit]:
    """The changes that help. ``pools``: what people call the pool of each node, by the node's name."""
    found = [
        *_preferred_level(world, job, lets_in),
        *_more_quota(world, job, lets_in),
        *_more_nodes(world, job, pools, lets_in),
    ]
    return [*found, *_fewer_nodes(world, job, lets_in)][:3]


def _least_that_works(most: int, works: Callable[[int], bool]) -> int | None:
    """The least number from 1 on that works, if more never harms."""
    high = 1
    while not works(high):
        high *= 2
        if high > most:
            return None
    return bisect_left(range(high), True, high // 2 + 1, key=works)


def _more_quota(world: World, job: Job, lets_in: Try) -> Iterator[Edit]:
    queue = queue_of(world, job)
    if queue is None or not job.pod_sets:
        return
    main = job.pod_sets[0]
    for group in queue.groups:
        for flavor in group.flavors:

            def works(nodes: int, flavor: str = flavor) -> bool:
                return lets_in(_with_quota(world, job, flavor, nodes), job)

            nodes = _least_that_works(2 * max(1, main.count), works)
            if nodes is not None:
                more = numbered(nodes, "more node")
                yield Edit(f"{more} of quota for queue `{queue.name}` in `{flavor}`")
                return


def _with_quota(world: World, job: Job, flavor: str, nodes: int) -> World:
    queue = queue_of(world, job)
    if queue is None:
        return world
    quotas = dict(queue.quotas)
    for resource, amount in job.pod_sets[0].requests.items():
        limits = quotas.get(Cell(flavor, resource))
        if limits is not None:
            nominal = limits.nominal + amount * nodes
            quotas[Cell(flavor, resource)] = Limits(nominal, limits.borrowing, limits.lending)
    wider = replace(queue, quotas=quotas)
    return replace(world, queues=tuple(wider if each is queue else each for each in world.queues))


def _more_nodes(world: World, job: Job, pools: Mapping[str, str], lets_in: Try) -> Iterator[Edit]:
    last: dict[str, Node] = {}
    for node in world.nodes:
        if node.name in pools:
            last[pools[node.name]] = node
    for title, node in last.items():

        def works(count: int, node: Node = node) -> bool:
            return lets_in(replace(world, nodes=(*world.nodes, *_copies_of(node, count))), job)

        count = _least_that_works(sum(each.count for each in job.pod_sets), works)
        if count is not None:
            yield Edit(f"{numbered(count, 'more node')} in pool `{title}`")
            return


def _copies_of(node: Node, count: int) -> Iterator[Node]:
    for index in range(count):
        name = f"{node.name}-more-{index:04}"
        yield replace(node, name=name, labels={**node.labels, "kubernetes.io/hostname": name})


def _fewer_nodes(world: World, job: Job, lets_in: Try) -> Iterator[Edit]:
    main, *others = job.pod_sets
    key, most = ("nodes", main.count) if main.least is None else ("minNodes", main.least)

    def works(fewer: int) -> bool:
        smaller = replace(main, count=most - fewer, least=None)
        return lets_in(world, replace(job, pod_sets=(smaller, *others)))

    if most < 2 or most > _MOST_NODES:
        return
    fewer = bisect_left(range(most), True, 1, key=works)
    if fewer < most:
        left = most - fewer + sum(each.count for each in others)
        yield Edit(f"`{key}: {left}`", of_job=True)


def _preferred_level(world: World, job: Job, lets_in: Try) -> Iterator[Edit]:
    required = [
        each.placement.level
        for each in job.pod_sets
        if each.placement is not None and each.placement.mode == "required"
    ]
    if required and lets_in(world, anywhere(job, "preferred")):
        yield Edit(f"`{required[0]}` preferred instead of required", of_job=True)
