"""Machines, from the pools of the spec."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.pools import resolve_pools
from trainyard.extensions.rack.machines.plan import Machines
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import Context
from trainyard.plan.scheduling import INSTANCE_TYPE, POOL_LABEL, ZONE, Requirement


def resolve(context: Context) -> Iterator[PlanItem]:
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
