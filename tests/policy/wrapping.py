"""A TrainJob with its runtime, written as every other kind of object that runs one gang."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from trainyard.language.units import Quantity
from trainyard.output.manifest import Body, ref_of
from trainyard.run.examples.rehearse import merged

_TRAINER_KINDS = ("TrainJob", "ClusterTrainingRuntime", "TrainingRuntime")
_RESOURCES = {"resourcesPerNode": "resources"}
_POLICY = ("activeDeadlineSeconds", "suspend", "managedBy")
_PROGRAM = ("image", "command", "args", "env", "resourcesPerNode")


class Gang(NamedTuple):
    """One job as all kinds have it: the pod template of each node, and how often all of it starts again."""

    metadata: Body
    pod: Body
    nodes: int
    processes: int | None
    backoff: int | None
    failure: Body | None
    policy: Body
    """Its deadline, and what Kueue and MultiKueue own."""
    program: int
    """The place of the container that runs the program."""


Wrap = Callable[[Gang], Body]


def wrapped(bodies: Sequence[Body], wrap: Wrap) -> list[Body] | None:
    """A set with each of its TrainJobs as another kind; ``None`` where one has no such form: its runtime is not in the
    set, or has several jobs."""
    runtimes = {ref_of(body).name: body for body in bodies if body["kind"] in _TRAINER_KINDS[1:]}
    written: list[Body] = []
    for body in bodies:
        if body["kind"] == "TrainJob":
            gang = _gang(body, runtimes.get(_runtime_of(body)))
            if gang is None:
                return None
            written.append(wrap(gang))
        elif body["kind"] not in _TRAINER_KINDS:
            written.append(body)
    return written


def _runtime_of(job: Body) -> str:
    return str(job.get("spec", {}).get("runtimeRef", {}).get("name"))


def _gang(job: Body, runtime: Body | None) -> Gang | None:
    if runtime is None:
        return None
    spec = runtime["spec"]
    parts = spec["template"]["spec"]["replicatedJobs"]
    if len(parts) != 1:
        return None
    (part,) = copy.deepcopy(parts)
    for patch in job["spec"].get("runtimePatches", ()):
        template = patch.get("trainingRuntimeSpec", {}).get("template", {})
        own = template.get("spec", {}).get("replicatedJobs", [])
        part = merged([part], own)[0]
    of_job = part["template"]["spec"]
    trainer = job["spec"].get("trainer", {})
    containers = of_job["template"]["spec"]["containers"]
    place = next(index for index, each in enumerate(containers) if each["name"] == "node")
    given = {_RESOURCES.get(key, key): trainer[key] for key in _PROGRAM if key in trainer}
    containers[place] = merged(containers[place], given)
    policy = spec.get("mlPolicy", {})
    metadata = {key: job["metadata"][key] for key in job["metadata"] if key != "uid"}
    return Gang(
        metadata=metadata,
        pod=of_job["template"],
        nodes=trainer.get("numNodes") or policy.get("numNodes") or 1,
        processes=trainer.get("numProcPerNode"),
        backoff=of_job.get("backoffLimit"),
        failure=spec["template"]["spec"].get("failurePolicy"),
        policy={key: job["spec"][key] for key in _POLICY if key in job["spec"]},
        program=place,
    )


def _body(api: str, kind: str, gang: Gang, spec: Body) -> Body:
    return {"apiVersion": api, "kind": kind, "metadata": gang.metadata, "spec": spec}


def _with_name(pod: Body, place: int, name: str) -> Body:
    pod = copy.deepcopy(pod)
    pod["spec"]["containers"][place]["name"] = name
    return pod


def _of_operator(kind: str, field: str, main: str, roles: tuple[str, ...]) -> Wrap:
    def wrap(gang: Gang) -> Body:
        pod = _with_name(gang.pod, gang.program, main)
        restarts = pod["spec"].pop("restartPolicy", None)
        counts = {roles[0]: gang.nodes} if len(roles) == 1 else {roles[0]: 1}
        if len(roles) > 1 and gang.nodes > 1:
            counts[roles[1]] = gang.nodes - 1
        specs = {
            role: {
                "replicas": count,
                **({"restartPolicy": restarts} if restarts else {}),
                "template": copy.deepcopy(pod),
            }
            for role, count in counts.items()
        }
        policy = dict(gang.policy)
        spec: Body = {field: specs, "runPolicy": policy}
        if kind == "PyTorchJob" and gang.processes is not None:
            spec["nprocPerNode"] = str(gang.processes)
        retries = (gang.failure or {}).get("maxRestarts")
        if retries is not None:
            policy["backoffLimit"] = retries * gang.nodes
        return _body("kubeflow.org/v1", kind, gang, spec)

    return wrap


def _job_spec(gang: Gang) -> Body:
    spec: Body = {"completionMode": "Indexed", "completions": gang.nodes, "parallelism": gang.nodes}
    if gang.backoff is not None:
        spec["backoffLimit"] = gang.backoff
    return {**spec, "template": gang.pod}


def _job_set(gang: Gang) -> Body:
    spec: Body = {"replicatedJobs": [{"name": "node", "template": {"spec": _job_spec(gang)}}]}
    if gang.failure is not None:
        spec["failurePolicy"] = gang.failure
    spec |= {key: gang.policy[key] for key in ("suspend", "managedBy") if key in gang.policy}
    return _body("jobset.x-k8s.io/v1alpha2", "JobSet", gang, spec)


def _job(gang: Gang) -> Body:
    return _body("batch/v1", "Job", gang, {**_job_spec(gang), **gang.policy})


def _mpi_job(gang: Gang) -> Body:
    """The launcher is a node as the workers are, and has the program."""
    workers = copy.deepcopy(gang.pod)
    container = workers["spec"]["containers"][gang.program]
    for key in ("command", "args"):
        container.pop(key, None)
    roles = {"Launcher": {"replicas": 1, "template": gang.pod}}
    if gang.nodes > 1:
        roles["Worker"] = {"replicas": gang.nodes - 1, "template": workers}
    spec: Body = {"runLauncherAsWorker": True, "mpiReplicaSpecs": roles, "runPolicy": gang.policy}
    if gang.processes is not None:
        spec["slotsPerWorker"] = gang.processes
    retries = (gang.failure or {}).get("maxRestarts")
    if retries is not None:
        spec["runPolicy"] = {**gang.policy, "backoffLimit": retries}
    return _body("kubeflow.org/v2beta1", "MPIJob", gang, spec)


def _ray_job(gang: Gang) -> Body:
    """The head is a pod without devices, and runs the program."""
    workers = copy.deepcopy(gang.pod)
    container = workers["spec"]["containers"][gang.program]
    words = [*container.pop("command", ()), *container.pop("args", ())]
    head = copy.deepcopy(workers)
    small = {"cpu": "2", "memory": "8Gi"}
    for amounts in container.get("resources", {}).values():
        amounts |= {
            key: str(Quantity.parse(amounts[key]) - Quantity.parse(small[key]))
            for key in small
            if key in amounts
        }
    of_head = head["spec"]["containers"][gang.program]
    of_head["resources"] = {"requests": small, "limits": small}
    group = {"groupName": "worker", "replicas": gang.nodes, "minReplicas": gang.nodes}
    group |= {"maxReplicas": gang.nodes, "rayStartParams": {}, "template": workers}
    cluster = {
        "headGroupSpec": {"rayStartParams": {"num-cpus": "0"}, "template": head},
        "workerGroupSpecs": [group],
    }
    spec: Body = {"entrypoint": shlex.join(words), "rayClusterSpec": cluster, **gang.policy}
    retries = (gang.failure or {}).get("maxRestarts")
    if retries is not None:
        spec["backoffLimit"] = retries
    return _body("ray.io/v1", "RayJob", gang, spec)


def _hyperpod_job(gang: Gang) -> Body:
    pod = copy.deepcopy(gang.pod)
    pod["spec"].pop("restartPolicy", None)
    replica = {"name": "pods", "replicas": gang.nodes, "template": pod}
    policy = dict(gang.policy)
    retries = (gang.failure or {}).get("maxRestarts")
    if retries is not None:
        policy["jobMaxRetryCount"] = retries
    spec: Body = {"replicaSpecs": [replica], "runPolicy": policy}
    if gang.processes is not None:
        spec["nprocPerNode"] = str(gang.processes)
    return _body("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob", gang, spec)


def _leader_worker_set(gang: Gang) -> Body:
    spec = {"replicas": 1, "leaderWorkerTemplate": {"size": gang.nodes, "workerTemplate": gang.pod}}
    return _body("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", gang, spec)


def _volcano(gang: Gang) -> Body:
    spec = {
        "minAvailable": gang.nodes,
        "tasks": [{"name": "node", "replicas": gang.nodes, "template": gang.pod}],
    }
    return _body("batch.volcano.sh/v1alpha1", "Job", gang, spec)


KINDS: Mapping[str, Wrap] = {
    "PyTorchJob": _of_operator(
        "PyTorchJob", "pytorchReplicaSpecs", "pytorch", ("Master", "Worker")
    ),
    "JobSet": _job_set,
    "Job": _job,
    "MPIJob": _mpi_job,
    "RayJob": _ray_job,
    "HyperPodPyTorchJob": _hyperpod_job,
    "LeaderWorkerSet": _leader_worker_set,
    "Job.batch.volcano.sh": _volcano,
    "TFJob": _of_operator("TFJob", "tfReplicaSpecs", "tensorflow", ("Worker",)),
    "XGBoostJob": _of_operator("XGBoostJob", "xgbReplicaSpecs", "xgboost", ("Master", "Worker")),
    "PaddleJob": _of_operator("PaddleJob", "paddleReplicaSpecs", "paddle", ("Worker",)),
    "JAXJob": _of_operator("JAXJob", "jaxReplicaSpecs", "jax", ("Worker",)),
}
