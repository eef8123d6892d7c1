"""What the controllers on the system's nodes ask for: requests that we set, and those of the charts as released.

The least that is certain: a request that no source states counts as 0, so that no spec is refused by a guess.
Each add-on's file says what its controllers ask for, and the spec may say otherwise in their values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from trainyard.catalog import InstanceType
from trainyard.eks import addons
from trainyard.eks.addons.addon import AddOn, Controller
from trainyard.eks.nodes.daemons import running
from trainyard.eks.nodes.requested import own_values, sized
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.body import at as value
from trainyard.plan.context import Context


@dataclass(frozen=True, slots=True)
class Agents:
    """What the DaemonSets take of a node of the system: pods, milli-CPU, MiB."""

    pods: int
    cpu: int
    memory: int


@dataclass(frozen=True, slots=True)
class Needs:
    """What all nodes of the system must have together, and what one must have that runs the largest pod of which no two
    share a node: Karpenter's (karpenter v1.14.1 charts/karpenter/values.yaml, podAntiAffinity)."""

    pods: int
    cpu_milli: int
    memory_mib: int
    each_cpu: int
    each_memory: int


class Asked(NamedTuple):
    """A controller as the cluster has it, and where the spec says its requests; ``None`` where it says none."""

    controller: Controller
    place: Route | None


def needs(context: Context, instance: InstanceType, nodes: int) -> Needs:
    """What the system asks for on so many nodes of a type."""
    agents = _agents(context, instance)
    pods = nodes * agents.pods
    cpu = nodes * agents.cpu
    memory = nodes * agents.memory
    largest_cpu, largest_memory = 0, 0
    for controller, _ in controllers(context):
        pods += controller.pods
        cpu += controller.pods * controller.cpu
        memory += controller.pods * controller.memory
        if controller.apart:
            largest_cpu = max(largest_cpu, controller.cpu)
            largest_memory = max(largest_memory, controller.memory)
    return Needs(
        pods=pods,
        cpu_milli=cpu,
        memory_mib=memory,
        each_cpu=largest_cpu + agents.cpu,
        each_memory=largest_memory + agents.memory,
    )


def controllers(context: Context) -> list[Asked]:
    """The controllers of the cluster, with what the spec changes of them."""
    return [
        _asked(context, addon, controller)
        for addon in addons.installed(context)
        for controller in (*addon.controllers, *addon.sized(context))
    ]


def _asked(context: Context, addon: AddOn, controller: Controller) -> Asked:
    values, _ = own_values(context, addon)
    pods = value(values, *controller.replicas) if controller.replicas else None
    if isinstance(pods, int) and not isinstance(pods, bool) and pods >= 0:
        controller = replace(controller, pods=pods)
    cpu, memory, place = sized(context, addon, controller)
    return Asked(replace(controller, cpu=cpu, memory=memory), place)


def _agents(context: Context, instance: InstanceType) -> Agents:
    """A pod each, with its requests where they are published."""
    daemons = running(context, instance)
    published = [daemon for daemon in daemons if daemon.published]
    cpu = sum(daemon.cpu for daemon in published)
    memory = sum(daemon.memory for daemon in published)
    return Agents(len(daemons), cpu, memory)
