"""Whether jobs could want more together than their queues have: a bound that needs no simulation."""

from __future__ import annotations

from collections import Counter

from compiler.model.fit import asked_by_all_pods, selectable_flavors
from compiler.model.reading import Reading


def contended(world: Reading) -> bool:
    """Whether some job of the plan may wait if all are submitted at once.

    None does where the jobs of each queue, in the only flavor that each may land in, ask for no more than the nominal
    quota of the queue together, no job has parts that are placed, and none says how near its pods must be: nominal
    quotas are a queue's own whenever it asks for them (kueue v0.19.2).
    """
    used: Counter[tuple[str, str, str]] = Counter()
    nominal: dict[tuple[str, str, str], int] = {}
    for work in world.works:
        if work.queue is None:
            continue
        if work.nodes is None or work.others or work.shares_domain:
            return True
        for group in work.queue.groups:
            flavors = selectable_flavors(work, group, world)
            if len(flavors) != 1:
                return True
            for quota in flavors[0].quotas:
                per_node = work.asks.get(quota.resource)
                if per_node is None:
                    continue
                key = (work.queue.name, flavors[0].flavor, quota.resource)
                asked = asked_by_all_pods(work, work.nodes, per_node, quota.resource)
                used[key] += asked.milli
                nominal[key] = quota.nominal.milli
    return any(used[key] > nominal[key] for key in used)
