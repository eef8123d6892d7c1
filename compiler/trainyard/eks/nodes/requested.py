"""What a pod of an add-on requests: by its file, or as the spec says in the values of its chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.eks.addons.addon import EKS, OWN, AddOn, Container, Controller, Daemon
from trainyard.eks.overrides.spec import OverridesSection
from trainyard.eks.settings.spec import AT_EKS, ClusterSection
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.output.body import value_at as value
from trainyard.plan.context import SPEC, Context


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
    cpu, memory, path = requests_in(values, pods)
    return cpu, memory, Route((*at, *path)) if path else None


def requests_in(
    values: Mapping[str, Any], pods: Controller | Daemon
) -> tuple[int, int, tuple[str, ...]]:
    """Milli-CPU and MiB that pods request by the values of their chart, and the first path that says so."""
    cpu, memory = pods.cpu, pods.memory
    said: tuple[str, ...] = ()
    for container in _containers(pods):
        path = next((each for each in container.resources if value(values, *each)), ())
        if not path:
            continue
        resources = value(values, *path)
        own_cpu = requested(resources, "cpu", container.cpu)
        own_memory = requested(resources, "memory", container.memory)
        if own_cpu is None and own_memory is None:
            continue
        if own_cpu is not None:
            cpu += own_cpu.milli - container.cpu
        if own_memory is not None:
            memory += own_memory.value // 2**20 - container.memory
        said = said or path
    return cpu, memory, said


def _containers(pods: Controller | Daemon) -> tuple[Container, ...]:
    if isinstance(pods, Daemon) and pods.containers:
        return pods.containers
    return (Container(pods.cpu, pods.memory, (pods.resources,)),) if pods.resources else ()


def requested(resources: Any, what: str, default: int = 0) -> Quantity | None:
    """What a container's `resources` request. A limit is the request where nothing requests (core/v1
    ResourceRequirements, requests)."""
    said = value(resources, "requests", what)
    if said is None and not default:
        said = value(resources, "limits", what)
    return Quantity.read(said)
