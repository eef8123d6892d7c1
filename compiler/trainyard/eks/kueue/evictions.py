"""How often Kueue admits a job again whose pods did not become ready in time.

Each time its nodes wait for the whole of the timeout, and are paid: a wrong tag of an image is no cheaper than a node
that comes late. Kueue's configuration is the cluster's, so that the dearest pool decides. There are three steps, no
price in it: another pool changes the configuration only where it is another order of magnitude.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.pools import Pool, resolve_pools
from trainyard.language.units import Duration
from trainyard.plan.context import SPEC, Context

_STEPS = ((1000, 2), (100, 5))
"""USD that one wait of all nodes of a pool costs, above which a job is readmitted fewer times."""
_CHEAP = 10
_AGAIN = 'the platform has it ask again: `kubectl patch workload NAME --type=merge -p \'{"spec": {"active": true}}\'`'


def evictions(context: Context, ready: Duration, given: int | None) -> int:
    """How often a job is admitted again: fewer times where a wait of ``ready`` costs much."""
    derived, why = _derived(context, ready)
    return context.settle(
        "kueue",
        "requeuingStrategy.backoffLimitCount",
        given,
        derived,
        f"{why}; then {_AGAIN}",
        "config.kueue.x-k8s.io/v1beta2 Configuration waitForPodsReady.requeuingStrategy",
        at=SPEC / "kueue" / "waitForPodsReady" / "requeues",
    )


def _derived(context: Context, ready: Duration) -> tuple[int, str]:
    costs = sorted(_costs(context, ready), reverse=True)
    for limit, requeues in _STEPS:
        for cost, name, price in costs:
            if cost >= limit:
                return (requeues, f"all nodes of pool {name} wait {ready} each time, {price}")
    return _CHEAP, f"a job whose nodes or image do not come waits {ready} each time"


def _costs(context: Context, ready: Duration) -> Iterator[tuple[float, str, str]]:
    """What one wait of all nodes of each pool costs, its name, and the cost in words."""
    for pool in context.once(resolve_pools).values():
        price = _price(context, pool)
        if price is None:
            yield _STEPS[0][0], pool.name, "at a price that the catalog does not know"
            continue
        cost = price * pool.nodes * ready.seconds / 3600
        yield cost, pool.name, f"for about ${cost:,.0f}"


def _price(context: Context, pool: Pool) -> float | None:
    """USD an hour of the dearest of a pool's types. One without accelerators and without a price is cheap."""
    prices = []
    for instance in pool.instances:
        price = instance.usd_hour(context.spec.region)
        if price is None and instance.accelerators:
            return None
        prices.append(price or 0)
    return max(prices)
