"""What a pod asks for in all, as the scheduler, Kueue and LimitRanges count it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from compiler.core.pods.plan import Container, Pod, Resources
from compiler.manifest import placeholder
from compiler.plan.units import Quantity

_ALWAYS = "Always"


def is_sidecar(container: Container) -> bool:
    """Whether an init container runs beside those after it (core/v1 restartPolicy `Always`), or may."""
    policy = container.restart_policy or ""
    return policy == _ALWAYS or placeholder(policy)


def amounts_of(container: Container) -> Resources:
    """What a container may use: its limits, and its requests where it has none."""
    return {**container.requests, **container.limits}


def requested(container: Container) -> Resources:
    """What a container asks for: its requests, and its limits where it has none (core/v1, ResourceRequirements)."""
    return {**container.limits, **container.requests}


def total(
    pod: Pod,
    of: Callable[[Container], Resources] = requested,
    known: Mapping[str, Resources] | None = None,
) -> Resources:
    """The amounts of a pod: its containers and sidecars together, or the init container that takes most, with the
    sidecars before it (Kubernetes 1.36, component-helpers/resource; KEP-753). ``of`` says the amounts of a container;
    ``known`` are those of containers by name that are not in the pod, as a TrainJob sets them.
    """
    known = known or {}
    running = _sum(known.get(each.name, of(each)) for each in pod.containers)
    beside: Resources = {}
    starting: Resources = {}
    for container in pod.init_containers:
        needed = _sum((beside, of(container)))
        starting = _larger(starting, needed)
        if is_sidecar(container):
            beside = needed
    return _larger(_sum((running, beside)), starting)


def _sum(amounts: Iterable[Resources]) -> Resources:
    found: dict[str, Quantity] = {}
    for each in amounts:
        for name, amount in each.items():
            found[name] = found.get(name, Quantity(0)) + amount
    return found


def _larger(first: Resources, second: Resources) -> Resources:
    found = dict(first)
    for name, amount in second.items():
        found[name] = max(amount, found.get(name, amount))
    return found
