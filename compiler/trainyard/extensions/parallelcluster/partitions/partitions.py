"""Which partitions there are: one for each queue of a pool, or one for each pool where accounting holds the quotas.

A node belongs to one queue of ParallelCluster, so that without accounting a quota is a partition of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainyard.catalog.instance import InstanceType
from trainyard.core.pools.pools import Pool, resolve_pools
from trainyard.core.queues.queues import Queue, resolve_queues
from trainyard.extensions.parallelcluster.settings.spec import ClusterSection
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.context import Context

# aws-parallelcluster 3.16.1, constants.py and validators/common: MAX_NUMBER_OF_QUEUES, NAME_MAX_LENGTH, NAME_REGEX.
MOST_QUEUES = 50
LONGEST_NAME = 25
_NAME = re.compile(r"[a-z][a-z0-9-]*\Z")
_LIMITS = "aws-parallelcluster 3.16.1, constants.py"


@dataclass(frozen=True, slots=True)
class Nodes:
    """Some nodes of a pool that come from one place: so many, and the reservation that they come from, if any;
    ``least`` of them are always on."""

    count: int
    reservation: str | None = None
    least: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """A partition: its name, its pool, the queue whose nodes it has (``None``: all that accounting says), and nodes."""

    name: str
    pool: Pool
    queue: Queue | None
    at: Route
    nodes: tuple[Nodes, ...]

    @property
    def count(self) -> int:
        """All of its nodes."""
        return sum(part.count for part in self.nodes)

    @property
    def least(self) -> int:
        """Those that are always on."""
        return sum(part.least for part in self.nodes)


def shares(context: Context) -> list[Share]:
    """The partitions of the spec, in the order of its pools and queues."""
    found = list(_with_least(_shares(context)))
    for share in found:
        _check_name(context, share)
    names: dict[str, Share] = {}
    for share in found:
        first = names.setdefault(share.name, share)
        if first is not share:
            context.fault(
                "RES300",
                f"two partitions would be called `{share.name}`: that of pool `{first.pool.name}` and that of pool "
                f"`{share.pool.name}`",
                share.at,
                "rename one of the queues or pools: a queue of several pools has a partition `QUEUE-POOL` of each",
            )
    if len(found) > MOST_QUEUES:
        context.fault(
            "RES301",
            f"the spec makes {len(found)} partitions, and ParallelCluster takes {MOST_QUEUES}",
            found[MOST_QUEUES].at,
            "add `accounting` to the platform: queues of a pool then share one partition",
            source=_LIMITS,
        )
    return found


def _with_least(found: Iterable[Share]) -> Iterator[Share]:
    """The partitions, of which the first have the nodes of their pool that are always on."""
    left: dict[str, int] = {}
    for share in found:
        pool = share.pool
        always_on = left.setdefault(pool.name, pool.spec.nodes.min)
        parts = []
        for part in share.nodes:
            least = min(part.count, always_on)
            always_on -= least
            parts.append(replace(part, least=least))
        left[pool.name] = always_on
        yield replace(share, nodes=tuple(parts))


def partition_of(context: Context, pool: Pool, queue: Queue) -> str:
    """The name of the partition in which a job of a queue runs on a pool."""
    if ClusterSection.of(context.spec).own.accounting is not None:
        return pool.name
    return _name(pool, queue)


def _name(pool: Pool, queue: Queue) -> str:
    if queue.implicit:
        return pool.name
    if len(queue.quota) == 1:
        return queue.name
    return f"{queue.name}-{pool.name}"


def _shares(context: Context) -> Iterator[Share]:
    pools = context.once(resolve_pools)
    left = {pool.name: _sources(pool) for pool in pools.values()}
    if ClusterSection.of(context.spec).own.accounting is not None:
        for pool in pools.values():
            yield Share(pool.name, pool, None, pool.at, tuple(left[pool.name]))
        return
    for queue in context.once(resolve_queues).values():
        for pool, quota, at in queue.quota:
            count = pool.nodes if queue.implicit else quota.nodes
            if count:
                parts = _taken(left[pool.name], count)
                yield Share(_name(pool, queue), pool, queue, at, parts)


def _sources(pool: Pool) -> list[Nodes]:
    """Where the nodes of a pool come from: its reservations in their order, or EC2 at large."""
    reservations = pool.spec.reservations
    if not reservations:
        return [Nodes(pool.nodes)]
    return [Nodes(one.nodes or pool.nodes, one.id) for one in reservations]


def _taken(sources: list[Nodes], count: int) -> tuple[Nodes, ...]:
    """So many nodes of the sources, in order; what is taken is gone from them. More than there are come from the last
    one: that the quotas exceed the pool is reported elsewhere (QUE001)."""
    parts: list[Nodes] = []
    while count > 0:
        first = sources[0]
        is_last = len(sources) == 1
        taken = count if is_last else min(count, first.count)
        if taken:
            parts.append(Nodes(taken, first.reservation))
        count -= taken
        left = max(first.count - taken, 0)
        sources[0] = Nodes(left, first.reservation)
        if not left and not is_last:
            del sources[0]
    return tuple(parts)


def _check_name(context: Context, share: Share) -> None:
    name = share.name
    if _NAME.match(name) and len(name) <= LONGEST_NAME and name != "default":
        return
    context.fault(
        "RES300",
        f"the partition `{name}` cannot be called so: ParallelCluster takes {LONGEST_NAME} characters at most, of a-z, "
        "0-9 and `-`, with a letter first, and not `default`",
        share.at,
        "rename the queue or the pool",
        source=f"{_LIMITS}, NameValidator",
    )


def resource_name(instances: tuple[InstanceType, ...], reservation: str | None) -> str:
    """The name of a compute resource: that of its type, and the end of its reservation's id."""
    kind = re.sub(r"[^a-z0-9-]+", "-", instances[0].name)
    if len(instances) > 1:
        kind = f"{instances[0].family}-mixed".replace(".", "-")
    if reservation is None:
        return kind[:LONGEST_NAME]
    end = reservation[-6:]
    return f"{kind[: LONGEST_NAME - len(end) - 1].rstrip('-')}-{end}"
