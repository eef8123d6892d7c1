"""Machines, from the pools of the spec."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.platforms.rack.machines.plan import Machines

from compiler.context import Context
from compiler.core.pools.pools import resolve_pools
from compiler.plan import PlanNode
from compiler.plan.scheduling import INSTANCE_TYPE, POOL_LABEL, ZONE, Requirement
from compiler.plan.units import Quantity


def resolve(context: Context) -> Iterator[PlanNode]:
    """The machines of each pool."""
    for pool in context.once(resolve_pools).values():
        types = tuple(instance.name for instance in pool.instances)
        yield Machines(
            at=pool.at,
            name=pool.name,
            labels={POOL_LABEL: pool.name},
            requirements=(
                Requirement(INSTANCE_TYPE, "In", types),
                Requirement(ZONE, "In", tuple(pool.zones)),
            ),
            limits={"nodes": Quantity.of(pool.nodes)},
            efa=pool.efa,
            own_kubelet=True,
            origins={"limits": pool.at / "nodes" / "max"},
        )
