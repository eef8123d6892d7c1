"""What the controllers on the system's nodes ask for: requests that we set, and those of the charts as released.

The least that is certain: a request that no source states counts as 0, so that no spec is refused by a guess.
Each add-on's file says what its controllers ask for, and the spec may say otherwise in their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from compiler.catalog import InstanceType
from compiler.context import SPEC, Context
from compiler.dataclass import dataclass
from compiler.output.body import at as value
from compiler.places import Route
from compiler.plan import Quantity
from compiler.platforms.eks import addons
from compiler.platforms.eks.addons.addon import EKS, OWN, AddOn, Controller
from compiler.platforms.eks.nodes.daemons import running
from compiler.platforms.eks.overrides.spec import OverridesSection
from compiler.platforms.eks.settings.spec import AT_EKS, ClusterSection


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
    values, at = _own_values(context, addon)
    pods = value(values, *controller.replicas) if controller.replicas else None
    if isinstance(pods, int) and not isinstance(pods, bool) and pods >= 0:
        controller = replace(controller, pods=pods)
    place = None
    if controller.resources:
        resources = value(values, *controller.resources)
        cpu = _requested(resources, "cpu", controller.cpu)
        memory = _requested(resources, "memory", controller.memory)
        if cpu is not None:
            controller = replace(controller, cpu=cpu.milli)
        if memory is not None:
            controller = replace(controller, memory=memory.value // 2**20)
        if cpu is not None or memory is not None:
            place = Route((*at, *controller.resources))
    return Asked(controller, place)


def _own_values(context: Context, addon: AddOn) -> tuple[Mapping[str, Any], Route]:
    """What the spec says of the values of an add-on, and where."""
    name = addon.component
    if addon.by in (EKS, OWN):
        settings = ClusterSection.of(context.spec).eks.addons.get(name)
        return settings.values if settings else {}, AT_EKS / "addons" / name / "values"
    component = OverridesSection.of(context.spec).components.get(name)
    return component.values if component else {}, SPEC / "components" / name / "values"


def _requested(resources: Any, what: str, default: int) -> Quantity | None:
    """What a container's `resources` in the spec request. A limit is the request where nothing requests (core/v1
    ResourceRequirements, requests)."""
    said = value(resources, "requests", what)
    if said is None and not default:
        said = value(resources, "limits", what)
    return Quantity.read(said)


def _agents(context: Context, instance: InstanceType) -> Agents:
    """A pod each, with its requests where they are published."""
    daemons = running(context, instance)
    published = [daemon for daemon in daemons if daemon.published]
    cpu = sum(daemon.cpu for daemon in published)
    memory = sum(daemon.memory for daemon in published)
    return Agents(len(daemons), cpu, memory)
