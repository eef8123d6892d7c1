"""The lines of the spec behind the fields of a runtime and a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard.core.jobs.plan import SPEC_NAME
from trainyard.core.pods.plan import EFA, GPU, HUGEPAGES, NEURON, Container, EnvVar, Pod, merged
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.language.places import Key, Route
from trainyard.output.artifact import Places

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
LEAST = "kueue.x-k8s.io/job-min-parallelism"
REPLICATED = ("spec", "template", "spec", "replicatedJobs")
POD = ("template", "spec", "template", "spec")
PATCHES = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", *REPLICATED[1:])


def runtime_origins(runtime: Runtime) -> Places:
    failure = ("spec", "template", "spec", "failurePolicy")
    restarts = runtime.where("max_restarts")
    places: Places = {(*failure, "maxRestarts"): restarts}
    for index, job in enumerate(runtime.jobs):
        places.update(pod_origins((*REPLICATED, index, *POD), job.pod))
    return places


def pod_origins(spec: tuple[Key, ...], pod: Pod) -> Places:
    """Where the fields of a pod come from; ``spec`` is the path of its spec in the object."""
    places: Places = {
        (*spec, field): pod.where(name) for field, name in _OF_POD if getattr(pod, name)
    }
    for key in pod.annotations:
        if f"annotations.{key}" in pod.origins:
            here = (*spec[:-1], "metadata", "annotations", key)
            places[here] = pod.where(f"annotations.{key}")
    for index, volume in enumerate(pod.volumes):
        if f"volumes.{volume.name}" in pod.origins:
            origin = pod.where(f"volumes.{volume.name}")
            places[(*spec, "volumes", index)] = origin
    places.update(_container_origins(spec, pod))
    return places


_OF_POD = (
    ("tolerations", "tolerations"),
    ("volumes", "volumes"),
    ("nodeSelector", "node_selector"),
    ("terminationGracePeriodSeconds", "grace_seconds"),
    ("serviceAccountName", "service_account"),
    ("affinity", "pools"),
    ("affinity", "excluded_nodes"),
    ("imagePullSecrets", "pull_secrets"),
)


def _container_origins(spec: tuple[Key, ...], pod: Pod) -> Places:
    places: Places = {}
    for index, container in enumerate(pod.containers):
        here = (*spec, "containers", index)
        if container.pre_stop:
            places[(*here, "lifecycle")] = container.where("pre_stop")
        if container.working_dir:
            places[(*here, "workingDir")] = container.where("working_dir")
        said = [field for field in _OF_CONTAINER if field in container.origins]
        places.update(_field_origins(here, container, said))
        for number, mount in enumerate(container.mounts):
            if f"volumes.{mount.volume}" in pod.origins:
                origin = pod.where(f"volumes.{mount.volume}")
                places[(*here, "volumeMounts", number)] = origin / "path"
    for index, container in enumerate(pod.init_containers):
        here = (*spec, "initContainers", index)
        places[here] = container.at
        places.update(_field_origins(here, container, _OF_CONTAINER))
    return places


_OF_CONTAINER = ("image", "command", "args", "env")


def _field_origins(here: tuple[Key, ...], container: Container, fields: Sequence[str]) -> Places:
    """Fields that a container says itself, the words of its command and its variables one by one."""
    places: Places = {}
    for field in fields:
        value = getattr(container, field)
        if not value:
            continue
        origin = container.where(field)
        places[(*here, field)] = origin
        if field == "env":
            places.update({(*here, field, n): origin / each.name for n, each in enumerate(value)})
        elif field in ("command", "args"):
            places.update({(*here, field, n): origin / n for n in range(len(value))})
    return places


_FIELDS = (
    (("trainer", "numNodes"), "nodes"),
    (("trainer", "image"), "image"),
    (("trainer", "command"), "command"),
    (("trainer", "args"), "args"),
    (("trainer", "env"), "env"),
    (("trainer", "resourcesPerNode"), "requests"),
    (("trainer", "numProcPerNode"), "processes"),
    (("activeDeadlineSeconds",), "deadline"),
    (("runtimeRef",), "runtime"),
)


WORDS = (("spec", "trainer", "command"), ("spec", "trainer", "args"))


_LIMITS = ("spec", "trainer", "resourcesPerNode", "limits")


_DEVICES = (GPU, NEURON, EFA)
_ASKED = {
    "cpu": "cpu",
    "memory": "memory",
    "ephemeral-storage": "ephemeralStorage",
    GPU: "accelerators",
    NEURON: "accelerators",
    EFA: "efa",
    HUGEPAGES: "hugePages",
}


def job_origins(job: TrainJob, old: bool) -> Places:
    patches = "podTemplateOverrides" if old else "runtimePatches"
    places: Places = {}
    for field, name in _FIELDS:
        origin = job.where(name)
        places["spec", *field] = origin
    places.update(_env_origins(("spec", "trainer", "env"), job.env, job.origins))
    places.update(_limit_origins(_LIMITS, job))
    places.update(head_origins(job))
    places["spec", patches] = job.where("patches")
    for index, patch in enumerate(job.patches):
        places.update(pod_origins((*PATCHES, index, *POD), patch.pod))
    for source in job.initializers:
        places["spec", "initializer", source.name] = source.at
    return places


def head_origins(job: TrainJob) -> Places:
    """Where the metadata of a job comes from."""
    places: Places = {
        ("metadata", "annotations", key): job.where("annotations") / key for key in job.annotations
    }
    if job.least_nodes is not None:
        places["metadata", "annotations", LEAST] = job.where("least_nodes")
    places["metadata", "name"] = job.where("name")
    places["metadata", "namespace"] = job.where("namespace")
    places["metadata", "labels"] = job.where("labels")
    places["metadata", "labels", SPEC_NAME] = job.where("name")
    places["metadata", "labels", QUEUE] = job.where("queue")
    places["metadata", "labels", PRIORITY] = job.where("priority")
    return places


def program_origins(at: tuple[Key, ...], job: TrainJob, container: Container) -> Places:
    """Where the program of a job comes from. ``at`` is the path of the container that runs it, or runs what the
    container says itself (a role of a JobSet)."""
    places: Places = {}
    for field in _OF_CONTAINER:
        says_itself = field in container.origins and getattr(container, field)
        node = container if says_itself else job
        places[(*at, field)] = node.where(field)
    places[(*at, "resources")] = job.where("requests")
    variables = merged(job.env, container.env)
    places.update(_env_origins((*at, "env"), variables, {**job.origins, **container.origins}))
    places.update(_limit_origins((*at, "resources", "limits"), job))
    return places


def _env_origins(
    env: tuple[Key, ...], variables: Sequence[EnvVar], origins: Mapping[str, Route]
) -> Places:
    places: Places = {}
    for index, variable in enumerate(variables):
        place = origins.get(f"env.{variable.name}")
        if place is not None:
            places[(*env, index)] = place
    return places


def _limit_origins(limits: tuple[Key, ...], job: TrainJob) -> Places:
    places: Places = {}
    # Of those not asked for: where they would be.
    for resource in (*job.limits, *_DEVICES, HUGEPAGES):
        if resource in _ASKED:
            origin = job.where("limits") / _ASKED[resource]
            places[(*limits, resource)] = origin
    return places
