"""Cohorts of queues: what a queue can borrow of the others in its tree.

Source: Kueue 0.19.2, ClusterQueue and Cohort (kueue.x-k8s.io/v1beta2): nominalQuota, borrowingLimit, lendingLimit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from trainyard.core.queues.plan import Queue, Quota
from trainyard.eks.kueue.plan import ClusterQueue, Cohort, LocalQueue
from trainyard.plan import Plan, Quantity


class Cohorts:
    """The cohorts of a plan, and the queues in them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def borrowable(self, queue: Queue, flavor: str, resource: str) -> Quantity | None:
        """The most of a resource that a queue can ever get in a flavor; ``None`` if other queues may add to it."""
        own = _quota(queue, flavor, resource)
        if own is None:
            return None
        if queue.cohort is None:
            return own.nominal
        bounds = []
        if own.borrowing is not None:
            bounds.append(own.nominal + own.borrowing)
        root = self.root(queue.cohort)
        others = [
            other
            for other in self._plan.of(Queue)
            if other is not queue and self.root(other.cohort) == root
        ]
        if self._plan.closed or (others and self._knows_all_cohorts):
            total = own.nominal
            for other in others:
                total += _lendable(_quota(other, flavor, resource))
            for cohort in self._plan.of(Cohort):
                quota = _quota(cohort, flavor, resource)
                if quota is None:
                    continue
                if self.root(cohort.name) == root:
                    total += quota.nominal
            bounds.append(total)
        return min(bounds, default=None)

    @cached_property
    def _knows_all_cohorts(self) -> bool:
        """Whether an open set seems to hold all queues and cohorts: of those that it names none is elsewhere."""
        queues = self._plan.of(ClusterQueue)
        cohorts = self._plan.of(Cohort)
        for local in self._plan.of(LocalQueue):
            if self._plan.named(ClusterQueue, local.cluster_queue) is None:
                return False
        if not cohorts:
            return True
        named = {queue.cohort for queue in queues}
        named.update(cohort.parent for cohort in cohorts)
        known = {cohort.name for cohort in cohorts}
        return named <= {None, *known}

    def root(self, cohort: str | None) -> str | None:
        """The topmost cohort above one; itself in a cycle."""
        seen: list[str] = []
        while cohort is not None and cohort not in seen:
            seen.append(cohort)
            cohort = self.parents.get(cohort)
        if cohort is None and seen:
            return seen[-1]
        return cohort

    @cached_property
    def parents(self) -> Mapping[str, str | None]:
        """The parent of each cohort."""
        cohorts = self._plan.of(Cohort)
        return {cohort.name: cohort.parent for cohort in cohorts}


def _lendable(quota: Quota | None) -> Quantity:
    """The most of a queue's quota that others may borrow."""
    if quota is None:
        return Quantity(0)
    if quota.lending is None:
        return quota.nominal
    return min(quota.nominal, quota.lending)


def _quota(queue: Queue | Cohort, flavor: str, resource: str) -> Quota | None:
    for quotas in queue.flavors():
        if quotas.flavor == flavor:
            quota = quotas.of(resource)
            if quota is not None:
                return quota
    return None
