"""Where each gang lands."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import Gang
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.core.pools.spec import NodePool, in_words
from trainyard.eks.jobs.plan import runtime_of
from trainyard.eks.kueue.plan import Flavor
from trainyard.eks.nodes.plan import NodeClass
from trainyard.extensions.forecast.blocks import Block, Heading, table
from trainyard.extensions.forecast.subject import Subject
from trainyard.judge.model.nodes import class_of
from trainyard.language.dataclass import dataclass
from trainyard.plan.scheduling import INSTANCE_TYPE, ZONE


def section(subject: Subject) -> Iterator[Block]:
    """A line for each job: its queue, its nodes, and what these are."""
    jobs = subject.plan.of(Gang)
    if not jobs:
        return
    yield Heading("Jobs")
    header = ("job", "object", "runs as", "queue", "nodes:", "lands on", "a node asks for")
    pools: set[str] = set()
    for job in jobs:
        pools.update((job.pool, *job.fallbacks))
    landings = {pool: _landing(subject, pool) for pool in pools}
    rows = (_row(subject, job, landings) for job in jobs)
    yield table(header, rows)


def _row(subject: Subject, job: Gang, landings: dict[str, str]) -> tuple[str, ...]:
    pools = (job.pool, *job.fallbacks)
    landing = ", else ".join(landings[pool] for pool in pools)
    return (
        job.source_name,
        f"{job.namespace}/{job.name}",
        _runs_as(subject, job),
        subject.queue_of(job),
        str(job.whole_nodes),
        landing,
        asked_for(job),
    )


def asked_for(job: Gang) -> str:
    """What a node of a job asks for, in words."""
    return ", ".join(f"{amount} {resource}" for resource, amount in job.requests.items())


def _runs_as(subject: Subject, job: Gang) -> str:
    """The kind of its object, and by what the processes are started."""
    runtime = runtime_of(subject.plan, job)
    if runtime is None:
        launcher = ""
    else:
        launcher = _LAUNCHERS.get(runtime.framework or "", "")
    if launcher:
        return f"{job.kind}, {launcher}"
    return job.kind


_LAUNCHERS = {"torch": "torchrun", "mpi": "mpirun", "jax": "JAX", "ray": "Ray"}


@dataclass(frozen=True, slots=True)
class Landing:
    """What the nodes of a pool are, in words. ``zones`` is empty where nothing says them."""

    types: str
    zones: str
    capacity: str
    placement: tuple[str, ...]


def landing(subject: Subject, pool: NodePool) -> Landing:
    """Types, zones, capacity and placement of a pool's nodes."""
    node_pools = list(subject.node_pools(pool.name))
    return Landing(
        types=_values(node_pools, INSTANCE_TYPE),
        zones=_zones(node_pools),
        capacity=_capacity(pool),
        placement=tuple(_placement(subject, node_pools, pool.name)),
    )


def _landing(subject: Subject, name: str) -> str:
    pool = subject.pool(name)
    assert pool is not None
    found = landing(subject, pool)
    where = f"{found.types} in {found.zones}" if found.zones else found.types
    return "; ".join([where, f"pool {name}", found.capacity, *found.placement])


def _zones(node_pools: list[Pool]) -> str:
    if all(isinstance(pool, FixedPool) and pool.zones is None for pool in node_pools):
        return ""
    return _values(node_pools, ZONE)


def _capacity(pool: NodePool) -> str:
    """The reservations of a pool, or how its nodes are bought."""
    if pool.reservations:
        return ", ".join(reservation.id for reservation in pool.reservations)
    return " or ".join(map(in_words, pool.capacity_types))


def _placement(subject: Subject, node_pools: list[Pool], pool: str) -> Iterator[str]:
    groups = set()
    for node_pool in node_pools:
        node: FixedPool | NodeClass | None = class_of(subject.plan, node_pool)
        if isinstance(node_pool, FixedPool):
            node = node_pool
        if node is not None and node.placement_group:
            groups.add(node.placement_group)
    for group in sorted(groups):
        yield f"placement group {group}"
    flavor = subject.plan.named(Flavor, pool)
    if flavor is not None and flavor.topology is not None:
        yield f"topology {flavor.topology}"


def _values(node_pools: list[Pool], key: str) -> str:
    values: set[str] = set()
    for node_pool in node_pools:
        for requirement in node_pool.requirements:
            if requirement.key == key:
                values.update(requirement.values)
    return ", ".join(sorted(values)) or "any"
