"""What a pod of an add-on requests: by its file, or as the spec says in the values of its chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.context import SPEC, Context
from compiler.output.body import at as value
from compiler.places import Route
from compiler.plan.units import Quantity
from compiler.platforms.eks.addons.addon import EKS, OWN, AddOn, Controller, Daemon
from compiler.platforms.eks.overrides.spec import OverridesSection
from compiler.platforms.eks.settings.spec import AT_EKS, ClusterSection


def own_values(context: Context, addon: AddOn) -> tuple[Mapping[str, Any], Route]:
    """What the spec says of the values of an add-on, and where."""
    name = addon.component
    if addon.by in (EKS, OWN):
        settings = ClusterSection.of(context.spec).eks.addons.get(name)
        return settings.values if settings else {}, AT_EKS / "addons" / name / "values"
    component = OverridesSection.of(context.spec).components.get(name)
    return component.values if component else {}, SPEC / "components" / name / "values"


def sized(
    context: Context, addon: AddOn, pods: Controller | Daemon
) -> tuple[int, int, Route | None]:
    """Milli-CPU and MiB that pods of an add-on request, and the place where the spec says so."""
    values, at = own_values(context, addon)
    if not (values and pods.resources):
        return pods.cpu, pods.memory, None
    resources = value(values, *pods.resources)
    cpu = requested(resources, "cpu", pods.cpu)
    memory = requested(resources, "memory", pods.memory)
    if cpu is None and memory is None:
        return pods.cpu, pods.memory, None
    return (
        pods.cpu if cpu is None else cpu.milli,
        pods.memory if memory is None else memory.value // 2**20,
        Route((*at, *pods.resources)),
    )


def requested(resources: Any, what: str, default: int = 0) -> Quantity | None:
    """What a container's `resources` request. A limit is the request where nothing requests (core/v1
    ResourceRequirements, requests)."""
    said = value(resources, "requests", what)
    if said is None and not default:
        said = value(resources, "limits", what)
    return Quantity.read(said)
