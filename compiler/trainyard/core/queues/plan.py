"""Plan items of queues: who may use how much of which pools at once."""

from __future__ import annotations

from itertools import chain

from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota(PlanItem):
    """One resource of one flavor in a ClusterQueue. ``None`` limits are no limits."""

    resource: str
    nominal: Quantity
    borrowing: Quantity | None = None
    lending: Quantity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorQuotas(PlanItem):
    """The quotas of one flavor, in the order of the group's covered resources."""

    flavor: str
    quotas: tuple[Quota, ...]

    def of(self, resource: str) -> Quota | None:
        """The quota of a resource."""
        for quota in self.quotas:
            if quota.resource == resource:
                return quota
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup(PlanItem):
    """A resource group of a ClusterQueue: which resources it covers, by which flavors."""

    covered: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(PlanItem):
    """A queue with its quotas: those that share a ``cohort`` lend each other what is free. Platforms have their own."""

    name: str
    cohort: str | None = None
    groups: tuple[ResourceGroup, ...] = ()

    @property
    def covered(self) -> frozenset[str]:
        """Every resource that some group covers."""
        return frozenset(resource for group in self.groups for resource in group.covered)

    def flavors(self) -> tuple[FlavorQuotas, ...]:
        """All flavors of all groups."""
        groups = (group.flavors for group in self.groups)
        return tuple(chain.from_iterable(groups))
