"""Pods of third-party workloads, read as nodes of a job, for rules about pods."""

from __future__ import annotations

from trainyard.core.pods.plan import ACCELERATORS, EFA, Container, Pod
from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.third_party_workloads.plan import PodSet, Workload
from trainyard.judge.model.amounts import unread_amounts

_DEVICES = (*ACCELERATORS, EFA)
SHARES = ("nvidia.com/mig-", "nvidia.com/gpu.shared")
"""What names of shares of GPUs begin with (NVIDIA/k8s-device-plugin v0.20.0): slices of MIG, GPUs that take turns."""


def is_judged(workload: Workload, pod: Pod) -> bool:
    """Whether pods are of the kind that the rules are about: they ask for devices, or Kueue starts them."""
    if workload.queue is not None:
        return True
    return any(_asks_for_device(container) for container in pod.containers)


def _asks_for_device(container: Container) -> bool:
    asked = {*container.limits, *container.requests, *unread_amounts(container)}
    if not asked.isdisjoint(_DEVICES):
        return True
    return any(resource.startswith(SHARES) for resource in asked)


def main_container(pod: Pod) -> Container | None:
    """The container that does the work: the first that asks for a device, or else the first."""
    for container in pod.containers:
        if _asks_for_device(container):
            return container
    if pod.containers:
        return pod.containers[0]
    return None


_OF_OBJECT = ("queue", "deadline", "processes", "suspend", "managed_by")
"""What an object says for all of its pods."""


def as_job(workload: Workload, part: PodSet, main: Container | None) -> TrainJob:
    """What pods of a workload have in common with a TrainJob; the places are those of their main container."""
    if main is not None:
        places = main.origins
    else:
        places = {}
    return TrainJob(
        at=workload.at,
        name=workload.name,
        namespace=workload.namespace,
        kind=workload.kind,
        runtime="",
        queue=workload.queue,
        deadline=workload.deadline,
        processes=workload.processes,
        suspend=workload.suspend,
        managed_by=workload.managed_by,
        origins={
            **places,
            **{name: workload.where(name) for name in _OF_OBJECT},
            "nodes": part.where("count"),
        },
    )
