"""What the core asks of a rack."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.catalog import InstanceType, Release
from trainyard.core.jobs.job import Kind
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.share import Share
from trainyard.core.pools.spec import NodePool
from trainyard.extensions.rack.tasks.kind import TASK
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.units import Quantity
from trainyard.plan.context import Context


class ByHand(Launcher):
    """Machines that are there."""

    name = "by hand"


def launcher(context: Context, pool: NodePool) -> Launcher:
    """Somebody starts them."""
    return ByHand()


def kinds() -> Mapping[str, Kind]:
    """A list of tasks."""
    return {TASK.name: TASK}


def node_share(context: Context, pool: NodePool, instance: InstanceType, *, efa: bool) -> Share:
    """All of a machine."""
    return Share(
        cpu=instance.vcpus,
        memory=Quantity.mib(instance.memory_mib),
        accelerators=instance.accelerators,
        resource=instance.accelerator_resource,
        efa=instance.efa_interfaces if efa else 0,
        huge_pages=Quantity(0),
        left=(instance.vcpus * 1000, instance.memory_mib),
        agents=(0, 0),
    )


def own_versions(spec: ClusterSpec) -> dict[str, str]:
    """None."""
    return {}


def check_release(spec: ClusterSpec, release: Release) -> list[Diagnostic]:
    """Nothing."""
    return []


def settle(context: Context) -> None:
    """Nothing."""


def nodes_export(context: Context) -> str:
    """The group of whoever keeps the machines."""
    return f"{context.name}-machines"
