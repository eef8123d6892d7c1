"""The exporters that say when jobs saved last, which are our own program; `checkpoints` makes their objects."""

from __future__ import annotations

from trainyard.eks.addons.addon import MANIFESTS, OURS, AddOn, Controller
from trainyard.extensions.observability.checkpoints.names import CPU, EXPORTER, MEMORY, watched
from trainyard.extensions.observability.monitoring.names import key_route
from trainyard.extensions.observability.monitoring.saving import saving
from trainyard.plan.context import Context


def wanted(context: Context) -> bool:
    """Where the spec asks for monitoring, and a job saves to where an exporter can look."""
    return any(saving(context))


def sized(context: Context) -> tuple[Controller, ...]:
    """A pod for each job that is watched."""
    pods = len(list(watched(context)))
    return (Controller(EXPORTER, pods, CPU, MEMORY, OURS),) if pods else ()


ADD_ON = AddOn(component=EXPORTER, by=MANIFESTS, wanted=wanted, at=key_route(), sized=sized)
