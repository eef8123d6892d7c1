from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.plan import Plan, Quantity

Path = tuple[str, ...]
_CONTROLLERS: Mapping[str, tuple[Path, ...]] = {
    "karpenter": (("controller",),),
    "kueue": (("controllerManager", "manager"),),
    "kubeflow-trainer": (("manager",),),
    "jobset": (("controller",),),
    "kuberay-operator": ((),),
    "external-secrets": ((), ("webhook",), ("certController",)),
    "aws-fsx-csi-driver": (("controller",),),
    "aws-ebs-csi-driver": (("controller",),),
    "coredns": ((),),
    "metrics-server": ((),),
}
"""Where the values of each have the `resources` of a program with a cache of the cluster."""
_RELEASED = {
    "kueue": ("500m", "512Mi", "kueue v0.19.2 charts/kueue/values.yaml"),
    "jobset": ("500m", "128Mi", "jobset v0.12.0 charts/jobset/values.yaml"),
}
"""The requests of charts, which stay where only limits are written: CPU, memory, source."""


@rule("LIM042", params={"mebibytes": 64, "millicpu": 10})
def controller_memory_too_small(plan: Plan, world: World) -> Iterator[Finding]:
    """A controller may take so little memory or CPU that it does not start, or its pods are refused.

    A controller holds every object that it watches in memory. The scaffold of Kubebuilder requests 64Mi and 10m for
    one that watches nothing yet, and raised its limit of 30Mi, with which such programs are killed at their start
    (kubernetes-sigs/kubebuilder, pull request 2255). Nobody admits jobs, launches nodes or answers webhooks then,
    and Flux waits. `memory: 512m` is half a byte: the unit is `Mi`. A limit below what is requested is an error:
    the API server refuses the pods (core/v1 ResourceRequirements). Too small a limit is a warning. `mebibytes` and
    `millicpu` are the least of a limit.

    ## Fails

        components: {kueue: {values: {controllerManager: {manager: {resources: {limits: {memory: 20Mi}}}}}}}

        components: {karpenter: {values: {controller: {resources: {requests: {memory: 512m}, limits: {memory: 512m}}}}}}

        components: {jobset: {values: {controller: {resources: {requests: {cpu: 1m}, limits: {cpu: 1m}}}}}}

        components: {kueue: {values: {controllerManager: {manager: {resources: {limits: {memory: 256Mi}}}}}}}

        platform: {eks: {addons: {coredns: {values: {resources: {limits: {memory: 16Mi}}}}}}}

        # params: {mebibytes: 1024, millicpu: 500}
        components: {kueue: {values: {controllerManager: {manager: {resources: {limits: {memory: 512Mi}}}}}}}

    ## Passes

        # params: {mebibytes: 16, millicpu: 1}
        platform: {eks: {addons: {coredns: {values: {resources: {limits: {memory: 32Mi, cpu: 5m}}}}}}}

        components: {kueue: {values: {controllerManager: {manager: {resources: {limits: {memory: 4Gi}}}}}}}

        components: {jobset: {values: {controller: {resources: {requests: {cpu: 100m}, limits: {cpu: 200m}}}}}}

        platform: {eks: {addons: {coredns: {values: {resources: {limits: {memory: 512Mi}}}}}}}
    """
    for release in plan.of(HelmRelease):
        yield from _judged(release.chart, release.values, release.where("values"), world)
    for cluster in plan.of(Cluster):
        place = cluster.where("addons")
        for index, addon in enumerate(cluster.addons):
            yield from _judged(addon.name, addon.values, place / index, world)


def _judged(name: str, values: Mapping[str, Any], at: Route, world: World) -> Iterator[Finding]:
    least = {
        "cpu": Quantity(world.param("millicpu")),
        "memory": Quantity.mib(world.param("mebibytes")),
    }
    for path in _CONTROLLERS.get(name, ()):
        resources = mapping(values, *path, "resources")
        limits = mapping(resources, "limits")
        requests = {**_released(name, "cpu", "memory"), **mapping(resources, "requests")}
        place = Route((*at, *path, "resources"))
        for what, floor in least.items():
            limit, request = Quantity.read(limits.get(what)), Quantity.read(requests.get(what))
            if limit is None:
                continue
            if limit < floor:
                yield Finding(
                    f"a pod of `{name}` may take {limits[what]} {_WORDS[what]}",
                    place / "limits" / what,
                    label="it does not start" if what == "cpu" else "it is killed at its start",
                    help=f"write at least `{floor}`, or remove it",
                    severity=Severity.WARNING,
                )
            elif request is not None and limit < request:
                yield Finding(
                    f"a pod of `{name}` requests {requests[what]} {_WORDS[what]}, and may take {limits[what]}",
                    place / "limits" / what,
                    label="the API server refuses it",
                    help=f"write at least `{requests[what]}`, or lower what it requests",
                    notes=_source(name, mapping(resources, "requests"), what),
                )


_WORDS = {"cpu": "CPU", "memory": "memory"}


def _released(name: str, *whats: str) -> dict[str, str]:
    """What a chart requests by itself."""
    return dict(zip(whats, _RELEASED.get(name, ()), strict=False))


def _source(name: str, own: Mapping[str, Any], what: str) -> tuple[str, ...]:
    """Where a request stands that the values do not say."""
    if what in own or name not in _RELEASED:
        return ()
    return (f"source: {_RELEASED[name][2]}",)
