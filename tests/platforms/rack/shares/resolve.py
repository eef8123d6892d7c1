"""Shares, from the queues of the spec."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.queues.plan import FlavorQuotas, Quota, ResourceGroup
from trainyard.core.queues.queues import resolve_queues
from trainyard.extensions.rack.shares.plan import RackQueue
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import Context


def resolve(context: Context) -> Iterator[PlanItem]:
    """Each queue, in whole machines."""
    for queue in context.once(resolve_queues).values():
        flavors = []
        for pool, quota, at in queue.quota:
            quotas = tuple(
                Quota(
                    at=at,
                    resource=name,
                    nominal=Quantity(each.milli * quota.nodes),
                    origins={"nominal": at / "nodes"},
                )
                for name, each in pool.share.resources().items()
            )
            flavors.append(FlavorQuotas(at=at, flavor=pool.name, quotas=quotas))
        covered = tuple(quota.resource for quota in flavors[0].quotas) if flavors else ()
        group = ResourceGroup(at=queue.at, covered=covered, flavors=tuple(flavors))
        yield RackQueue(at=queue.at, name=queue.name, groups=(group,))
