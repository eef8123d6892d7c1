"""The system: whether its nodes have room for the controllers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from trainyard.catalog import Allocatable, InstanceType, allocatable, max_pods
from trainyard.core.pools.spec import PoolsSection
from trainyard.eks import addons
from trainyard.eks.addons.addon import AddOn, Controller
from trainyard.eks.nodes.daemons import running
from trainyard.eks.nodes.requested import own_values, sized
from trainyard.eks.overrides.spec import OverridesSection
from trainyard.eks.settings.spec import AT_EKS, ClusterSection
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.body import value_at as value
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

# Whether the system's nodes have room for the controllers.

# What the controllers on the system's nodes ask for: requests that we set, and those of the charts as released.
#
# The least that is certain: a request that no source states counts as 0, so that no spec is refused by a guess. Each
# add-on's file says what its controllers ask for, and the spec may say otherwise in their values.


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


_IDLE = 32
"""How many times what its controllers ask for a system may have: the default, m7i.2xlarge, has three times."""
_REQUESTS = "values.yaml of the charts of kueue v0.19.2, jobset v0.12.0 and karpenter v1.14.1"


def check_system(context: Context) -> None:
    """Whether the system's nodes have room for what runs on them. With EKS Auto Mode there are as many as it takes."""
    if ClusterSection.of(context.spec).auto_mode is not None:
        return
    system, at = (ClusterSection.of(context.spec).eks.system_nodes, AT_EKS / "systemNodes")
    instance = context.catalog.instance(system.instance_type)
    if instance is None or instance.accelerators:
        return
    node = allocatable(instance, huge_pages=False, vm_overhead=0)
    if _pod_too_large(context, instance, node):
        return
    wanted: Needs = needs(context, instance, system.nodes)
    for what, unit, have, need in (
        ("CPU", "m", node.cpu_milli * system.nodes, wanted.cpu_milli),
        ("memory", "Mi", node.memory_mib * system.nodes, wanted.memory_mib),
        ("pods", "", max_pods(instance) * system.nodes, wanted.pods),
    ):
        if have < need:
            context.fault(
                "RES042",
                f"{system.nodes} nodes of `{instance.name}` "
                f"have {have}{unit} {what} for pods, and "
                f"the controllers on them ask for {need}{unit}",
                at / "instanceType",
                "take a larger type, like `m7i.2xlarge`, or more `nodes`",
                source=_REQUESTS,
            )
            return
    _doubt_size(context, node, wanted)
    lacks_cpu = node.cpu_milli < wanted.each_cpu
    if lacks_cpu or node.memory_mib < wanted.each_memory:
        context.fault(
            "RES042",
            f"a node of `{instance.name}` has {node.cpu_milli}m CPU "
            f"and {node.memory_mib}Mi for "
            f"pods, and Karpenter with the node's agents asks for {wanted.each_cpu}m and "
            f"{wanted.each_memory}Mi",
            at / "instanceType",
            "take a larger type, like `m7i.2xlarge`",
            source=_REQUESTS,
        )


def _pod_too_large(context: Context, instance: InstanceType, node: Allocatable) -> bool:
    """Whether a controller asks in its values for more than a node of the system has. Nodes of GPU pools are tainted,
    so that it waits for ever; one of a pool of CPUs might take it."""
    types = [
        context.catalog.instance(name)
        for pool in PoolsSection.of(context.spec).node_pools
        for name in pool.instance_types
    ]
    if any(kind is not None and not kind.accelerators for kind in types):
        return False
    for controller, place in controllers(context):
        asked = (
            ("CPU", "cpu", "m", node.cpu_milli, controller.cpu),
            ("memory", "memory", "Mi", node.memory_mib, controller.memory),
        )
        for what, key, unit, have, need in asked:
            if place is None or need <= have:
                continue
            context.fault(
                "RES042",
                f"a pod of `{controller.name}` asks for {need}{unit} {what}, and a node of `{instance.name}` has "
                f"{have}{unit} for pods",
                place / "requests" / key,
                "ask for less, or take larger `systemNodes`: no other nodes take it",
                source="Kubernetes, resource management: a pod runs where its requests fit",
            )
            return True
    return False


def _doubt_size(context: Context, node: Allocatable, wanted: Needs) -> None:
    """Whether the system's nodes are far larger than what runs on them. What the spec includes may run there too, and
    so may add-ons of its own, of which no requests are known."""
    eks = ClusterSection.of(context.spec).eks
    system = eks.system_nodes
    if OverridesSection.of(context.spec).include or eks.addons:
        return
    cpu, memory = node.cpu_milli * system.nodes, node.memory_mib * system.nodes
    if cpu < _IDLE * wanted.cpu_milli or memory < _IDLE * wanted.memory_mib:
        return
    context.doubt(
        "RES287",
        f"{system.nodes} system nodes of `{system.instance_type}` have {cpu // 1000} CPUs, and what runs on them asks "
        f"for {-(-wanted.cpu_milli // 1000)}",
        AT_EKS / "systemNodes",
        "leave it out: two nodes of `m7i.2xlarge` have room for all controllers; nodes for jobs are `nodePools`",
        source=_REQUESTS,
    )


def resolve(context: Context) -> Iterator[PlanItem]:
    """No object by itself: the nodes are part of the cluster."""
    check_system(context)
    yield from ()
