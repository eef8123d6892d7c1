"""Whether jobs could want more together than their queues have: a bound that needs no simulation."""

from __future__ import annotations

from collections import Counter

from trainyard.judge.model.fit import selectable_flavors
from trainyard.judge.model.gangs import asked_by, pod_sets
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work
from trainyard.plan.scheduling import HOSTNAME


def contended(world: Reading) -> bool:
    """Whether some job of the plan may wait if all are submitted at once.

    None does where the jobs of each queue, in every flavor that each may land in, ask for no more than the nominal
    quota of the queue together, and none must be on one host or in one of several reservations: nominal quotas are a
    queue's own whenever it asks for them (kueue v0.19.2), and the nodes of a pool are one domain of each wider level
    until they run (docs/simulate.md).
    """
    used: Counter[tuple[str, str, str]] = Counter()
    nominal: dict[tuple[str, str, str], int] = {}
    for work in world.works:
        if work.queue is None:
            continue
        if work.nodes is None or _divides(work):
            return True
        asked = asked_by(pod_sets(work))
        for group in work.queue.groups:
            for flavor in selectable_flavors(work, group, world):
                for quota in flavor.quotas:
                    amount = asked.get(quota.resource)
                    if amount is None:
                        continue
                    key = (work.queue.name, flavor.flavor, quota.resource)
                    used[key] += amount.milli
                    nominal[key] = quota.nominal.milli
    return any(used[key] > nominal[key] for key in used)


def _divides(work: Work) -> bool:
    """Whether the level that a job requires may divide the nodes that it lands on."""
    level = work.required_level
    return level is not None and (level == HOSTNAME or len(work.pools) != 1)
