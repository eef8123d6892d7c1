"""A pod to look around in: what a job sees, without its program.

The pod is made from the plan, since the pods of a job may be gone. Sources: batch/v1 Job of Kubernetes 1.36
(``activeDeadlineSeconds``, ``ttlSecondsAfterFinished``); torchrun's ``PET_`` variables (PyTorch, elastic agent).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus

from trainyard.core.pods.plan import ACCELERATORS, Container, Pod, Resources, Volume
from trainyard.eks.jobs.bodies import pod_template
from trainyard.eks.jobs.kinds import kind_called
from trainyard.eks.jobs.origins import QUEUE
from trainyard.eks.jobs.plan import TrainJob, effective_pod, runtime_of
from trainyard.extensions.operate.api import Api, path_of
from trainyard.extensions.operate.faults import ClusterError, RefusedError
from trainyard.language.units import Quantity
from trainyard.output.manifest import Body
from trainyard.plan import Plan

LABEL = "trainyard.dev/debug"
"""The job that a pod is for. No label of ours or of Flux: the object is no run, and nothing prunes it."""
_KEPT_SECONDS = 300
_GRACE_SECONDS = 5  # `sleep` does not listen to the signal
_LONGEST_NAME = 63
_REQUESTS: Resources = {"cpu": Quantity.parse("250m"), "memory": Quantity.mib(512)}
_LIMITS: Resources = {"memory": Quantity.gib(4)}
"""Of a pod without devices: a job leaves little of its nodes, and the pod should fit beside it."""
_JOINS = ("PET_", "MASTER_", "NODE_RANK", "RANK", "WORLD_SIZE")
"""By these a program started by hand would join the nodes of the job itself."""
_OF_EFA = ("NCCL_NET", "FI_")
"""With these NCCL insists on a network that the pod does not have (aws-ofi-nccl)."""


def debug_job(plan: Plan, job: TrainJob, gpus: int, minutes: int) -> Body:
    """A batch/v1 Job with the pod of a job that only sleeps.

    Raises ``ClusterError`` where the job has no such pod, or fewer devices.
    """
    name = job.source_name or job.name
    runtime = runtime_of(plan, job)
    pod = effective_pod(job, runtime) if runtime is not None else None
    main = pod.container(runtime.main) if pod is not None and runtime is not None else None
    if pod is None or main is None:
        raise ClusterError(
            "CLU017",
            f"the spec does not say which pods job `{name}` runs in",
            "its runtime is not of this spec: `kubectl debug` copies a pod that is there",
        )
    requests, limits = _REQUESTS, _LIMITS
    if gpus:
        requests = limits = _share(name, main, gpus)
    seconds = minutes * 60
    labels = {LABEL: name}
    if gpus and job.queue:
        labels[QUEUE] = job.queue
    kind = kind_called("Job")
    return {
        "apiVersion": kind.api,
        "kind": kind.kind,
        "metadata": {
            "name": f"debug-{name}"[:_LONGEST_NAME].rstrip("-."),
            "namespace": job.namespace,
            "labels": labels,
        },
        "spec": {
            "activeDeadlineSeconds": seconds,
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": _KEPT_SECONDS,
            "template": pod_template(_asleep(pod, main, seconds, requests, limits)),
        },
    }


def _share(name: str, main: Container, gpus: int) -> Resources:
    """The devices, and their share of the job's CPU and memory. It is one node, and needs no EFA."""
    for device in ACCELERATORS:
        has = main.limits.get(device)
        if has is not None and has.value >= gpus:
            share = {each: main.requests.get(each, _REQUESTS[each]) for each in _REQUESTS}
            found = {each: _part(amount, gpus, has.value) for each, amount in share.items()}
            return {**found, device: Quantity.of(gpus)}
    most = max((main.limits[each].value for each in ACCELERATORS if each in main.limits), default=0)
    raise ClusterError(
        "CLU018",
        f"`--gpus {gpus}` is more than a pod of job `{name}` has: {most}",
        f"at most `--gpus {most}`" if most else "leave `--gpus` out",
    )


def _part(amount: Quantity, count: int, of: int) -> Quantity:
    return Quantity.of(max(amount.value * count // of, 1))


def _asleep(pod: Pod, main: Container, seconds: int, requests: Resources, limits: Resources) -> Pod:
    """The pod with its main container alone, which sleeps."""
    container = replace(
        main,
        command=("sleep", str(seconds)),
        args=(),
        env=tuple(each for each in main.env if not each.name.startswith((*_JOINS, *_OF_EFA))),
        requests=requests,
        limits=limits,
        pre_stop=(),
    )
    return replace(
        pod,
        containers=(container,),
        init_containers=(),
        volumes=tuple(_smaller(each, limits) for each in pod.volumes),
        restart_policy="Never",
        grace_seconds=_GRACE_SECONDS,
        labels={},
    )


def _smaller(volume: Volume, limits: Resources) -> Volume:
    """A volume in memory with half of the pod's memory at most, since it counts as that."""
    if volume.medium != "Memory" or volume.size is None:
        return volume
    most = _part(limits["memory"], 1, 2)
    return replace(volume, size=min(volume.size, most, key=lambda each: each.value))


def create(api: Api, body: Body) -> None:
    """Make the Job in the cluster. Raises ``ClusterError`` where it is there already."""
    metadata: Mapping[str, str] = body["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    kind = kind_called("Job")
    try:
        api.create(path_of(kind.api, kind.plural, namespace), body)
    except RefusedError as fault:
        if fault.status != HTTPStatus.CONFLICT:
            raise
        raise ClusterError(
            "CLU019",
            f"Job `{name}` is in namespace `{namespace}` already",
            f"go into it, or `kubectl delete job --namespace {namespace} {name}` first",
        ) from None


def steps(body: Body) -> Iterator[str]:
    """The commands that lead into the pod, and end it."""
    name, namespace = body["metadata"]["name"], body["metadata"]["namespace"]
    where = f"--namespace {namespace}"
    yield f"kubectl wait job/{name} {where} --for=jsonpath='{{.status.ready}}'=1 --timeout=15m"
    yield f"kubectl exec job/{name} {where} -it -- bash"
    yield f"kubectl delete job/{name} {where}"
