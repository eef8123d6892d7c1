"""What the controllers on the system's nodes ask for: requests that we set, and those of the charts as released.

The least that is certain: what no source tells the request of counts as nothing, so that nothing is refused by a guess.
Each add-on's file says what its controllers ask for.
"""

from __future__ import annotations

from compiler.catalog import InstanceType
from compiler.dataclass import dataclass
from compiler.resolve.context import Context
from compiler.subjects import addons
from compiler.subjects.addons.addon import Controller
from compiler.subjects.pools.daemons import running


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
    controllers = _controllers(context)
    apart = [controller for controller in controllers if controller.apart]
    return Needs(
        pods=sum(controller.pods for controller in controllers) + nodes * agents.pods,
        cpu_milli=sum(controller.pods * controller.cpu for controller in controllers)
        + nodes * agents.cpu,
        memory_mib=sum(
            controller.pods * controller.memory for controller in controllers
        )
        + nodes * agents.memory,
        each_cpu=max(controller.cpu for controller in apart) + agents.cpu,
        each_memory=max(controller.memory for controller in apart) + agents.memory,
    )


def _controllers(context: Context) -> list[Controller]:
    return [
        controller
        for addon in addons.addons().values()
        if addon.controllers and addon.wanted(context)
        for controller in addon.controllers
    ]


def _agents(context: Context, instance: InstanceType) -> Agents:
    """A pod each, with its requests where they are published."""
    daemons = running(context, instance)
    known = [daemon for daemon in daemons if daemon.published]
    return Agents(
        len(daemons),
        sum(daemon.cpu for daemon in known),
        sum(daemon.memory for daemon in known),
    )
