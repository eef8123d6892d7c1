"""What the controllers on the system's nodes ask for: requests that we set, and those of the charts as released.

The least that is certain: a request that no source states counts as 0, so that no spec is refused by a guess.
Each add-on's file says what its controllers ask for.
"""

from __future__ import annotations

from compiler.catalog import InstanceType
from compiler.context import Context
from compiler.dataclass import dataclass
from compiler.platforms.eks import addons
from compiler.platforms.eks.addons.addon import Controller
from compiler.platforms.eks.nodes.daemons import running


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


def needs(context: Context, instance: InstanceType, nodes: int) -> Needs:
    """What the system asks for on so many nodes of a type."""
    agents = _agents(context, instance)
    pods = nodes * agents.pods
    cpu = nodes * agents.cpu
    memory = nodes * agents.memory
    largest_cpu, largest_memory = 0, 0
    for controller in _controllers(context):
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


def _controllers(context: Context) -> list[Controller]:
    return [
        controller
        for addon in addons.addons().values()
        if addon.controllers and addon.runs(context)
        for controller in addon.controllers
    ]


def _agents(context: Context, instance: InstanceType) -> Agents:
    """A pod each, with its requests where they are published."""
    daemons = running(context, instance)
    published = [daemon for daemon in daemons if daemon.published]
    cpu = sum(daemon.cpu for daemon in published)
    memory = sum(daemon.memory for daemon in published)
    return Agents(len(daemons), cpu, memory)
