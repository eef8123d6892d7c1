"""What a pod asks for in all, as the scheduler, Kueue and LimitRanges count it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import Container, Pod, Resources
from trainyard.language.units import Quantity
from trainyard.output.manifest import placeholder

_ALWAYS = "Always"


def is_sidecar(container: Container) -> bool:
    """Whether an init container runs beside those after it (core/v1 restartPolicy `Always`), or may."""
    policy = container.restart_policy or ""
    return policy == _ALWAYS or placeholder(policy)


def amounts_of(container: Container) -> Resources:
    """What a container may use: its limits, and its requests where it has none."""
    return {**container.requests, **container.limits}


def unread_amounts(source: Container | Gang) -> frozenset[str]:
    """The resources that a container or job asks for by an amount that cannot be read, like ``${GPUS}``."""
    parts = [name.partition(".") for name in source.unread]
    return frozenset(
        resource for field, dot, resource in parts if dot and field in ("requests", "limits")
    )


def requested(source: Container | Gang) -> Resources:
    """What a container asks for, or a job for it: its requests, and its limits where it has none (core/v1,
    ResourceRequirements)."""
    return {**source.limits, **source.requests}


def limited(container: Container) -> Resources:
    """What a container is limited to."""
    return container.limits


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
    running = summed(known.get(each.name, of(each)) for each in pod.containers)
    beside: Resources = {}
    starting: Resources = {}
    for container in pod.init_containers:
        needed = summed((beside, of(container)))
        starting = _larger(starting, needed)
        if is_sidecar(container):
            beside = needed
    return _larger(summed((running, beside)), starting)


def with_others(asks: Resources, pod: Pod | None, main: Container | None) -> Resources:
    """What a whole pod requests whose main container asks for ``asks``; just that while the pod is unknown."""
    if pod is None or main is None:
        return asks
    if len(pod.containers) == 1 and not pod.init_containers:
        return asks
    return total(pod, known={main.name: asks})


def summed(amounts: Iterable[Resources]) -> Resources:
    """Amounts together, by resource."""
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
