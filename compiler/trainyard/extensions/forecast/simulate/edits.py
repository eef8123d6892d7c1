"""The smallest changes that would let a job in, each tried out before it is named.

More quota for its queue, in nodes of the job's own size; more nodes in a pool; fewer nodes for the job; and a level of
the topology that it prefers instead of requires.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.constraints import anywhere, queue_of
from trainyard.extensions.forecast.simulate.objects import Cell, Job, Limits, Node
from trainyard.extensions.forecast.simulate.state import World
from trainyard.language.diagnostics.words import numbered

Try = Callable[[World, Job], bool]
"""Whether a changed world or job lets the job in, and harms no other one."""

_MOST = 4096


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
        *_prefer(world, job, lets_in),
        *_more_quota(world, job, lets_in),
        *_more_nodes(world, job, pools, lets_in),
    ]
    return [*found, *_fewer(world, job, lets_in)][:3]


def _least(most: int, works: Callable[[int], bool]) -> int | None:
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

            nodes = _least(2 * max(1, main.count), works)
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
            return lets_in(replace(world, nodes=(*world.nodes, *_copies(node, count))), job)

        count = _least(sum(each.count for each in job.pod_sets), works)
        if count is not None:
            yield Edit(f"{numbered(count, 'more node')} in pool `{title}`")
            return


def _copies(node: Node, count: int) -> Iterator[Node]:
    for index in range(count):
        name = f"{node.name}-more-{index:04}"
        yield replace(node, name=name, labels={**node.labels, "kubernetes.io/hostname": name})


def _fewer(world: World, job: Job, lets_in: Try) -> Iterator[Edit]:
    main, *others = job.pod_sets
    key, most = ("nodes", main.count) if main.least is None else ("minNodes", main.least)

    def works(fewer: int) -> bool:
        smaller = replace(main, count=most - fewer, least=None)
        return lets_in(world, replace(job, pod_sets=(smaller, *others)))

    if most < 2 or most > _MOST:
        return
    fewer = bisect_left(range(most), True, 1, key=works)
    if fewer < most:
        left = most - fewer + sum(each.count for each in others)
        yield Edit(f"`{key}: {left}`", of_job=True)


def _prefer(world: World, job: Job, lets_in: Try) -> Iterator[Edit]:
    required = [
        each.placement.level
        for each in job.pod_sets
        if each.placement is not None and each.placement.mode == "required"
    ]
    if required and lets_in(world, anywhere(job, "preferred")):
        yield Edit(f"`{required[0]}` preferred instead of required", of_job=True)
