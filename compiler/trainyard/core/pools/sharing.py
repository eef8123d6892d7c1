"""Shared GPUs: what a pool offers, under which resource name, and how the device plugin is configured.

Sources: NVIDIA/k8s-device-plugin v0.20.0, README (sharing, mig strategy) and the chart's values (``config.map``, the
node label ``nvidia.com/device-plugin.config``); aws/karpenter-provider-aws#8710: Karpenter knows MIG by
NodeOverlay alone.
"""

from __future__ import annotations

from trainyard.catalog.instance import NVIDIA_RESOURCE, InstanceType
from trainyard.catalog.mig import profile_of
from trainyard.core.pools.keys import Sharing
from trainyard.language.dataclass import dataclass

CONFIG_LABEL = "nvidia.com/device-plugin.config"
"""The node label by which the plugin finds its configuration."""
SHARED = f"{NVIDIA_RESOURCE}.shared"
"""What GPUs that take turns are called with ``renameByDefault``."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What each GPU of a pool is offered as: ``count`` of a resource, each with a part of its memory in 64ths.

    ``config`` is the name of the plugin's configuration, ``profile`` that of slices.
    """

    resource: str
    count: int
    memory_64ths: int
    config: str
    profile: str = ""


def shares_of(sharing: Sharing, instance: InstanceType) -> Shares:
    """What each GPU of a type is offered as, which has such parts (``sharing_faults``)."""
    if sharing.time_slicing is not None:
        replicas = sharing.time_slicing.replicas
        return Shares(SHARED, replicas, 64 // replicas, f"time-slicing-{replicas}")
    assert sharing.mig is not None
    name = sharing.mig.profile
    profile = profile_of(instance, name)
    assert profile is not None, f"{instance.name} has no {name}"
    resource = f"nvidia.com/mig-{name}"
    return Shares(resource, profile.count, 8 * profile.eighths, "mig-mixed", name)


def plugin_config(sharing: Sharing) -> tuple[str, str]:
    """The name and the text of the configuration of the plugin on nodes of a pool."""
    if sharing.time_slicing is None:
        return "mig-mixed", "version: v1\nflags:\n  migStrategy: mixed\n"
    replicas = sharing.time_slicing.replicas
    text = (
        "version: v1\n"
        "flags:\n"
        "  migStrategy: none\n"
        "sharing:\n"
        "  timeSlicing:\n"
        "    renameByDefault: true\n"
        "    failRequestsGreaterThanOne: true\n"
        "    resources:\n"
        f"    - name: {NVIDIA_RESOURCE}\n"
        f"      replicas: {replicas}\n"
    )
    return f"time-slicing-{replicas}", text


WHOLE = ("whole", "version: v1\nflags:\n  migStrategy: none\n")
"""The configuration of nodes whose GPUs are not shared."""
