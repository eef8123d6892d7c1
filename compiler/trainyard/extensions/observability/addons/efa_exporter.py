"""The exporter of the counters of EFA, which is our own program; `monitoring` makes its objects."""

from __future__ import annotations

from trainyard.catalog import InstanceType
from trainyard.eks.addons.addon import MANIFESTS, OURS, AddOn, Daemon
from trainyard.extensions.observability.monitoring.names import (
    EFA_CPU,
    EFA_EXPORTER,
    EFA_MEMORY,
    has_efa,
    key_route,
)
from trainyard.extensions.observability.monitoring.names import is_wanted as monitored
from trainyard.plan.context import Context


def wanted(context: Context) -> bool:
    """Where a pool has EFA and the spec asks for monitoring."""
    return monitored(context) and has_efa(context)


def on_efa(instance: InstanceType) -> bool:
    """Nodes with interfaces of EFA."""
    return instance.efa_interfaces > 0


ADD_ON = AddOn(
    component=EFA_EXPORTER,
    by=MANIFESTS,
    wanted=wanted,
    at=key_route(),
    daemons=(Daemon(EFA_EXPORTER, EFA_CPU, EFA_MEMORY, OURS, on=on_efa, kept=False),),
)
