"""Target: jobs whose objects have their pods themselves (docs/adr/0015).

PyTorchJob of the training operator (v1.9.4), MPIJob of the MPI operator (v0.8.2), JobSet (v0.12.0), batch/v1 Job and
RayJob of KubeRay (v1.6.2).
`suspend` is Kueue's, and never written.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace

from compiler.core.pods.plan import Pod, ReplicatedJob
from compiler.manifest import Body, Manifest
from compiler.places import Key, Route
from compiler.plan import Plan
from compiler.platforms.eks.runs.bodies import pod_template
from compiler.platforms.eks.runs.origins import head_origins, pod_origins, program_origins
from compiler.platforms.eks.runs.plan import (
    JOB_KINDS,
    TRAIN_JOB,
    Runtime,
    TrainJob,
    effective_pod,
    runtime_of,
)
from compiler.platforms.eks.runs.target import JOBS, job_head, runtime_spec
from compiler.targets.body import given, path

_Path = tuple[Key, ...]
_POD = ("template", "spec")


def lower(plan: Plan) -> Iterator[Manifest]:
    """The object of each job that is no TrainJob."""
    for job in plan.of(TrainJob):
        if job.kind == TRAIN_JOB:
            continue
        runtime = runtime_of(plan, job)
        if runtime is not None:
            yield _manifest(job, runtime)


def _manifest(job: TrainJob, runtime: Runtime) -> Manifest:
    whole = replace(runtime, jobs=_roles(job, runtime))
    spec, pods = _BODIES[job.kind](job, whole)
    head = job_head(job, JOB_KINDS[job.kind].api, whole)
    body = {**head, "spec": spec}
    places = head_origins(job)
    words: list[_Path] = []
    for start, replicated in zip(pods, whole.jobs, strict=True):
        places.update(pod_origins(start, replicated.pod))
        names = [container.name for container in replicated.pod.containers]
        here = (*start, "containers", names.index(runtime.main))
        places.update(program_origins(here, job))
        words += [(*here, "command"), (*here, "args")]
    for field, name in _FIELDS.get(job.kind, {}).items():
        origin = _where(job, runtime, name)
        places["spec", *field] = origin
    return Manifest(body, path(JOBS, body), job.at, places, tuple(words))


def _where(job: TrainJob, runtime: Runtime, name: str) -> Route:
    node = runtime if name == "max_restarts" else job
    return node.where(name)


_FIELDS: dict[str, dict[_Path, str]] = {
    "PyTorchJob": {
        ("nprocPerNode",): "processes",
        ("runPolicy", "backoffLimit"): "max_restarts",
        ("runPolicy", "activeDeadlineSeconds"): "deadline",
        ("pytorchReplicaSpecs", "Worker", "replicas"): "nodes",
    },
    "MPIJob": {
        ("slotsPerWorker",): "processes",
        ("runPolicy", "backoffLimit"): "max_restarts",
        ("runPolicy", "activeDeadlineSeconds"): "deadline",
        ("mpiReplicaSpecs", "Worker", "replicas"): "nodes",
    },
    "JobSet": {("failurePolicy", "maxRestarts"): "max_restarts"},
    "Job": {
        ("activeDeadlineSeconds",): "deadline",
        ("completions",): "nodes",
        ("parallelism",): "nodes",
        ("backoffLimit",): "max_restarts",
        ("backoffLimitPerIndex",): "max_restarts",
    },
    "RayJob": {
        ("entrypoint",): "command",
        ("activeDeadlineSeconds",): "deadline",
        ("backoffLimit",): "max_restarts",
        ("rayClusterSpec", "workerGroupSpecs", 0, "replicas"): "nodes",
    },
}


def _roles(job: TrainJob, runtime: Runtime) -> tuple[ReplicatedJob, ...]:
    """The parts of the job, with the program in that which takes it."""
    main = runtime.trainer()
    pod = effective_pod(job, runtime)
    parts = []
    for part in runtime.jobs:
        if part is main and pod is not None:
            part = replace(part, pod=pod)
        parts.append(part)
    return tuple(parts)


_Spec = tuple[Body, list[_Path]]
"""The spec of an object, and the paths of its pods' specs, in the order of the parts."""


def _pytorch_job(job: TrainJob, runtime: Runtime) -> _Spec:
    spec = given(
        nprocPerNode=None if job.processes is None else str(job.processes),
        runPolicy=_run_policy(job, runtime),
    )
    return _replicas("pytorchReplicaSpecs", spec, runtime)


def _mpi_job(job: TrainJob, runtime: Runtime) -> _Spec:
    settings = {name: value for name, value in runtime.settings.items() if name != "cleanPodPolicy"}
    spec = given(slotsPerWorker=job.processes, **settings, runPolicy=_run_policy(job, runtime))
    return _replicas("mpiReplicaSpecs", spec, runtime)


def _run_policy(job: TrainJob, runtime: Runtime) -> Body:
    return given(
        cleanPodPolicy=runtime.settings.get("cleanPodPolicy"),
        backoffLimit=runtime.max_restarts,
        activeDeadlineSeconds=job.deadline,
        managedBy=job.managed_by,
    )


def _replicas(key: str, spec: Body, runtime: Runtime) -> _Spec:
    """Replicas by role. Their restart policy stands beside the pod's template, and the operator writes it into it."""
    specs: Body = {}
    pods: list[_Path] = []
    for part in runtime.jobs:
        specs[part.name] = given(
            replicas=part.replicas,
            restartPolicy=part.pod.restart_policy,
            template=pod_template(_without_policy(part.pod)),
        )
        pods.append(("spec", key, part.name, *_POD))
    return {**spec, key: specs}, pods


def _without_policy(pod: Pod) -> Pod:
    return replace(pod, restart_policy=None)


def _job_set(job: TrainJob, runtime: Runtime) -> _Spec:
    """Each replicated job is one Indexed Job of as many pods as it has nodes."""
    spec = runtime_spec(runtime)
    pods: list[_Path] = []
    for index, part in enumerate(runtime.jobs):
        template = spec["replicatedJobs"][index]["template"]
        template.pop("metadata", None)
        count = part.nodes or job.nodes
        indexed = {"completionMode": "Indexed", "completions": count, "parallelism": count}
        template["spec"] = {**indexed, **template["spec"]}
        pods.append(("spec", "replicatedJobs", index, "template", "spec", "template", "spec"))
    return given(managedBy=job.managed_by, **spec), pods


def _plain_job(job: TrainJob, runtime: Runtime) -> _Spec:
    (part,) = runtime.jobs
    limit = "backoffLimit"
    indexed: Body = {}
    if job.nodes != 1:
        limit = "backoffLimitPerIndex"
        indexed = {"completionMode": "Indexed", "completions": job.nodes, "parallelism": job.nodes}
    spec = given(
        **indexed,
        **{limit: part.backoff_limit},
        activeDeadlineSeconds=job.deadline,
        managedBy=job.managed_by,
        template=pod_template(part.pod),
    )
    return spec, [("spec", *_POD)]


_HEAD_STARTS = {"num-cpus": "0"}
"""Ray places no rank on the head (ray start; kuberay v1.6.2, common/pod.go)."""


def _ray_job(job: TrainJob, runtime: Runtime) -> _Spec:
    """The command is the entrypoint of the cluster; its containers start Ray, by the operator's own command."""
    main = runtime.trainer()
    cluster: Body = {}
    workers: list[Body] = []
    pods: list[_Path] = []
    here = ("spec", "rayClusterSpec")
    for part in runtime.jobs:
        template = pod_template(_without_program(part.pod, runtime.main))
        if part is not main:
            head = {"rayStartParams": dict(_HEAD_STARTS), "template": template}
            cluster["headGroupSpec"] = head
            pods.append((*here, "headGroupSpec", *_POD))
            continue
        place = (*here, "workerGroupSpecs", len(workers))
        pods.append((*place, *_POD))
        workers.append(
            {
                "groupName": part.name,
                "replicas": part.replicas,
                "minReplicas": part.replicas,
                "maxReplicas": part.replicas,
                "rayStartParams": {},
                "template": template,
            }
        )
    spec = given(
        entrypoint=shlex.join(job.command),
        **runtime.settings,
        backoffLimit=runtime.max_restarts,
        activeDeadlineSeconds=job.deadline,
        managedBy=job.managed_by,
        rayClusterSpec={**cluster, "workerGroupSpecs": workers},
    )
    return spec, pods


def _without_program(pod: Pod, main: str) -> Pod:
    containers = []
    for container in pod.containers:
        if container.name == main:
            container = replace(container, command=(), args=())
        containers.append(container)
    return replace(pod, containers=tuple(containers))


_BODIES: dict[str, Callable[[TrainJob, Runtime], _Spec]] = {
    "PyTorchJob": _pytorch_job,
    "MPIJob": _mpi_job,
    "JobSet": _job_set,
    "Job": _plain_job,
    "RayJob": _ray_job,
}
