"""Small worlds for tests: queues of one flavor, nodes in domains of one topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.extensions.forecast.simulate.objects import Job, Placement, PodSet
from trainyard.extensions.forecast.simulate.reading import read_world
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import World

GPU = "nvidia.com/gpu"
LEVEL = "example.com/rack"


def queue(name: str, gpus: int | None, **spec: Any) -> list[dict[str, Any]]:
    """A ClusterQueue of GPUs of the flavor `main`, and the LocalQueue of its name; ``None``: of two flavors in turn."""
    limits = {key: spec.pop(key) for key in ("borrowingLimit", "lendingLimit") if key in spec}
    resource = {"name": GPU, "nominalQuota": gpus, **limits}
    groups = [{"coveredResources": [GPU], "flavors": [{"name": "main", "resources": [resource]}]}]
    return [
        {
            "kind": "ClusterQueue",
            "metadata": {"name": name},
            "spec": {"namespaceSelector": {}, "resourceGroups": groups, **spec},
        },
        {
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"clusterQueue": name},
        },
    ]


def made(
    *queues: Sequence[dict[str, Any]],
    racks: Sequence[int] | None = None,
    more: Sequence[dict[str, Any]] = (),
    fair: bool = False,
) -> World:
    """A world of queues; ``racks``: so many nodes of eight GPUs in each, in a topology of racks and hosts."""
    bodies: list[dict[str, Any]] = [
        {"kind": "Namespace", "metadata": {"name": "team"}},
        {
            "kind": "ResourceFlavor",
            "metadata": {"name": "main"},
            "spec": {"topologyName": "net"} if racks is not None else {},
        },
        {
            "kind": "Topology",
            "metadata": {"name": "net"},
            "spec": {"levels": [{"nodeLabel": LEVEL}, {"nodeLabel": "kubernetes.io/hostname"}]},
        },
        *more,
    ]
    for rack, count in enumerate(racks or ()):
        bodies += [_node(f"r{rack}", f"n{rack}-{index}") for index in range(count)]
    return read_world([*bodies, *(body for each in queues for body in each)], fair=fair)


def _node(rack: str, name: str) -> dict[str, Any]:
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {LEVEL: rack, "kubernetes.io/hostname": name}},
        "status": {"allocatable": {GPU: "8", "pods": "110"}},
    }


def job(
    name: str,
    queue: str,
    nodes: int,
    *,
    gpus: int = 8,
    mode: str | None = None,
    least: int | None = None,
    priority: int = 0,
    created: int = 0,
) -> Job:
    """A job of one set of pods; ``mode``: how it wants one rack."""
    placement = Placement(mode, None if mode == "unconstrained" else LEVEL) if mode else None
    pods = PodSet("node", nodes, {GPU: gpus}, least=least, placement=placement)
    return Job("team", name, queue, (pods,), priority, created)


def settled(of: World, *jobs: Job) -> Simulator:
    """All jobs submitted at once."""
    simulator = Simulator(of)
    for each in jobs:
        simulator.submit(each)
    simulator.settle()
    return simulator


def admitted(simulator: Simulator) -> Mapping[str, int]:
    """Pods of each admitted job, by its name."""
    return {
        work.job.name: sum(each.count for each in work.admission.sets)
        for work in simulator.works.values()
        if work.admission is not None
    }
