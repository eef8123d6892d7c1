"""The node problem detector, which reads fatal Xids from the kernel log of GPU nodes; `health` makes its objects."""

from __future__ import annotations

from trainyard.core.health.spec import HealthSection
from trainyard.core.pools.pools import pool_types
from trainyard.eks.addons.addon import MANIFESTS, OURS, AddOn, Daemon, on_gpus
from trainyard.plan.context import SPEC, Context

_CPU, _MEMORY = 50, 128
REQUESTS = {"cpu": f"{_CPU}m", "memory": f"{_MEMORY}Mi"}


def wanted(context: Context) -> bool:
    """Where a pool has GPUs, unless the spec switches it off."""
    if not HealthSection.of(context.spec).health.node_problem_detector:
        return False
    return any(instance.gpus for _, instance in context.once(pool_types))


ADD_ON = AddOn(
    component="node-problem-detector",
    in_auto_mode=True,
    by=MANIFESTS,
    wanted=wanted,
    at=SPEC / "health" / "nodeProblemDetector",
    daemons=(Daemon("node-problem-detector", _CPU, _MEMORY, OURS, on=on_gpus),),
)
