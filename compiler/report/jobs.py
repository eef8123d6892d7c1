"""Where each gang lands."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.report.markdown import table
from compiler.report.subject import Subject
from compiler.subjects.jobs.plan import TrainJob
from compiler.subjects.pools.plan import INSTANCE_TYPE, ZONE, NodeClass, NodePool
from compiler.subjects.queues.plan import Flavor


def section(subject: Subject) -> Iterator[str]:
    """A line for each job: its queue, its nodes, and what these are."""
    if not subject.plan.of(TrainJob):
        return
    yield from ("## Jobs", "")
    header = ("job", "object", "queue", "nodes:", "lands on", "a node asks for")
    landings = {
        name: _landing(subject, name)
        for name in {job.pool for job in subject.plan.of(TrainJob)}
    }
    yield from table(
        header, (_row(job, landings[job.pool]) for job in subject.plan.of(TrainJob))
    )


def _row(job: TrainJob, landing: str) -> tuple[str, ...]:
    asked = ", ".join(
        f"{amount} {resource}" for resource, amount in job.requests.items()
    )
    return (
        job.source_name,
        f"{job.namespace}/{job.name}",
        job.queue or "",
        str(job.nodes or 1),
        landing,
        asked,
    )


def _landing(subject: Subject, name: str) -> str:
    """Type, zone, capacity and placement of a pool's nodes, in words."""
    node_pools = list(subject.node_pools(name))
    pool = subject.pool(name)
    if not node_pools or pool is None:
        return name
    parts = [
        f"{_values(node_pools, INSTANCE_TYPE)} in {_values(node_pools, ZONE)}",
        f"pool {name}",
    ]
    parts.append(", ".join(pool.capacity.ids) or pool.capacity.type)
    parts += _placement(subject, node_pools, name)
    return "; ".join(parts)


def _placement(
    subject: Subject, node_pools: list[NodePool], pool: str
) -> Iterator[str]:
    groups = {
        node_class.placement_group
        for node_pool in node_pools
        if (node_class := subject.plan.named(NodeClass, node_pool.node_class))
        and node_class.placement_group
    }
    yield from (f"placement group {group}" for group in sorted(groups))
    flavor = subject.plan.named(Flavor, pool)
    if flavor is not None and flavor.topology is not None:
        yield f"topology {flavor.topology}"


def _values(node_pools: list[NodePool], key: str) -> str:
    values = {
        value
        for node_pool in node_pools
        for requirement in node_pool.requirements
        if requirement.key == key
        for value in requirement.values
    }
    return ", ".join(sorted(values)) or "any"
