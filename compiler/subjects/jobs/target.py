"""Target: Kubeflow Trainer's ClusterTrainingRuntime and TrainJob (2.1: podTemplateOverrides; 2.2 on: runtimePatches).

Neither `suspend` nor anything else that Kueue or Trainer own is ever written.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from compiler.manifest import Body, Manifest
from compiler.plan import Plan
from compiler.source import Key, Route
from compiler.subjects.delivery.plan import chart_version
from compiler.subjects.jobs.plan import (
    EFA,
    GPU,
    HUGEPAGES,
    NEURON,
    TRAINER_CHART,
    Container,
    EnvVar,
    FileSet,
    Mount,
    Patch,
    Pod,
    ReplicatedJob,
    Runtime,
    TrainJob,
    Volume,
)
from compiler.subjects.pools.plan import HOSTNAME
from compiler.targets.body import (
    NO_PRUNE,
    given,
    head,
    path,
    quantities,
    tolerations,
    unsubstituted,
)

API = "trainer.kubeflow.org/v1alpha1"
RUNTIMES, JOBS = "queues/runtimes", "jobs"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
FILES = "trainyard.dev/files"
_POD = (
    "spec",
    "template",
    "spec",
    "replicatedJobs",
    0,
    "template",
    "spec",
    "template",
    "spec",
)


def lower(plan: Plan) -> Iterator[Manifest]:
    """Runtimes a stage before the jobs: a TrainJob is refused while its runtime is not there."""
    old = (chart_version(plan, TRAINER_CHART) or "").startswith("2.1.")
    for runtime in plan.of(Runtime):
        body = runtime_body(runtime)
        yield Manifest(
            body, path(RUNTIMES, body), runtime.at, _runtime_origins(runtime)
        )
    for files in plan.of(FileSet):
        body = files_body(files)
        places: dict[tuple[Key, ...], Route] = {
            ("data", key): files.where(f"files.{key}") for key in files.files
        }
        yield Manifest(body, path(JOBS, body), files.at, places)
    for job in plan.of(TrainJob):
        body = job_body(job, overrides=old)
        yield Manifest(body, path(JOBS, body), job.at, _job_origins(job, old), _WORDS)


def runtime_body(runtime: Runtime) -> Body:
    """ClusterTrainingRuntime, or TrainingRuntime where it has a namespace."""
    kind = "TrainingRuntime" if runtime.namespace else "ClusterTrainingRuntime"
    labels = (
        {"trainer.kubeflow.org/framework": runtime.framework}
        if runtime.framework
        else {}
    )
    policy = given(numNodes=runtime.nodes)
    if runtime.framework:
        policy[runtime.framework] = {}
    spec = given(
        failurePolicy=given(
            maxRestarts=runtime.max_restarts, restartStrategy=runtime.restart_strategy
        ),
        replicatedJobs=[_replicated(each) for each in runtime.jobs],
    )
    return {
        **head(
            API,
            kind,
            runtime.name,
            runtime.namespace,
            labels=labels,
            annotations=_runtime_annotations(runtime),
        ),
        "spec": {"mlPolicy": policy, "template": {"spec": spec}},
    }


def files_body(files: FileSet) -> Body:
    """ConfigMap. A text with `${` would be changed by Flux (kustomize-controller 1.9)."""
    annotations = {} if files.prune else dict(NO_PRUNE)
    annotations = unsubstituted(annotations, files.files.values())
    return {
        **head(
            "v1",
            "ConfigMap",
            files.name,
            files.namespace,
            labels={FILES: "true"},
            annotations=annotations,
        ),
        "immutable": True,
        "data": dict(files.files),
    }


def _runtime_annotations(runtime: Runtime) -> Body:
    """How Flux applies it: it would put its own variables into what is said to containers too."""
    annotations = {} if runtime.prune else dict(NO_PRUNE)
    texts = chain.from_iterable(_texts(job.pod) for job in runtime.jobs)
    return unsubstituted(annotations, texts)


def _texts(pod: Pod) -> Iterator[str]:
    """What the spec says in a pod of a runtime, word for word."""
    yield from pod.annotations.values()
    for container in (*pod.init_containers, *pod.containers):
        yield from (container.working_dir, *container.command, *container.args)
        yield from (variable.value or "" for variable in container.env)


def _replicated(job: ReplicatedJob) -> Body:
    template = given(
        metadata=given(labels={STEP: job.step} if job.step else {}),
        spec=given(backoffLimit=job.backoff_limit, template=pod_template(job.pod)),
    )
    return given(
        name=job.name,
        replicas=job.replicas if job.replicas != 1 else None,
        dependsOn=[{"name": each, "status": "Complete"} for each in job.depends_on],
        template=template,
    )


def pod_template(pod: Pod) -> Body:
    """core/v1 PodTemplateSpec."""
    return given(
        metadata=given(labels=dict(pod.labels), annotations=dict(pod.annotations)),
        spec=pod_spec(pod),
    )


def pod_spec(pod: Pod) -> Body:
    """core/v1 PodSpec."""
    return given(
        restartPolicy=pod.restart_policy,
        terminationGracePeriodSeconds=pod.grace_seconds,
        serviceAccountName=pod.service_account,
        priorityClassName=pod.priority_class,
        hostNetwork=True if pod.host_network else None,
        nodeSelector=dict(pod.node_selector),
        tolerations=tolerations(pod.tolerations),
        affinity=_affinity(pod),
        imagePullSecrets=[{"name": each} for each in pod.pull_secrets],
        initContainers=[_container(each) for each in pod.init_containers],
        containers=[_container(each) for each in pod.containers],
        volumes=[_volume(each) for each in pod.volumes],
    )


def _affinity(pod: Pod) -> Body:
    """Required node affinity that leaves out single hosts (core/v1 NodeAffinity)."""
    if not pod.excluded_nodes:
        return {}
    hosts = list(pod.excluded_nodes)
    others = {"key": HOSTNAME, "operator": "NotIn", "values": hosts}
    required = {"nodeSelectorTerms": [{"matchExpressions": [others]}]}
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
    }


def _container(container: Container) -> Body:
    return given(
        name=container.name,
        image=container.image,
        command=list(container.command),
        args=list(container.args),
        workingDir=container.working_dir,
        env=[env_body(each) for each in container.env],
        resources=given(
            requests=quantities(container.requests), limits=quantities(container.limits)
        ),
        securityContext=given(
            privileged=True if container.privileged else None,
            capabilities=given(add=list(container.capabilities)),
        ),
        volumeMounts=[_mount(each) for each in container.mounts],
        lifecycle={"preStop": {"exec": {"command": list(container.pre_stop)}}}
        if container.pre_stop
        else None,
    )


def env_body(variable: EnvVar) -> Body:
    """core/v1 EnvVar."""
    if variable.secret is not None:
        return {
            "name": variable.name,
            "valueFrom": {
                "secretKeyRef": {"name": variable.secret, "key": variable.key}
            },
        }
    return {"name": variable.name, "value": variable.value or ""}


def _mount(mount: Mount) -> Body:
    return given(
        name=mount.volume,
        mountPath=mount.path,
        subPath=mount.sub_path,
        readOnly=True if mount.read_only else None,
    )


def _volume(volume: Volume) -> Body:
    if volume.type == "emptyDir":
        return {
            "name": volume.name,
            "emptyDir": given(
                medium=volume.medium,
                sizeLimit=str(volume.size) if volume.size is not None else None,
            ),
        }
    key = {
        "persistentVolumeClaim": "claimName",
        "hostPath": "path",
        "secret": "secretName",
    }.get(volume.type, "name")
    source = {key: volume.source, **given(type=volume.host_type)}
    return {"name": volume.name, volume.type: source}


def job_body(job: TrainJob, *, overrides: bool) -> Body:
    """TrainJob. ``overrides``: patches in the form of Trainer 2.1."""
    labels = dict(job.labels)
    if job.queue:
        labels[QUEUE] = job.queue
    if job.priority:
        labels[PRIORITY] = job.priority
    trainer = given(
        numNodes=job.nodes,
        numProcPerNode=job.processes,
        image=job.image,
        command=list(job.command),
        args=list(job.args),
        env=[env_body(each) for each in job.env],
        resourcesPerNode=given(
            requests=quantities(job.requests), limits=quantities(job.limits)
        ),
    )
    patches = (
        {"podTemplateOverrides": [_override(each) for each in job.patches]}
        if overrides
        else {"runtimePatches": [_patch(each) for each in job.patches]}
    )
    annotations = dict(job.annotations)
    if not job.prune:
        annotations.update(NO_PRUNE)
    values = (each.value or "" for each in job.env)
    texts = (*job.command, *job.args, *values, *job.annotations.values())
    annotations = unsubstituted(annotations, texts)
    return {
        **head(
            API,
            "TrainJob",
            job.name,
            job.namespace,
            labels=labels,
            annotations=annotations,
        ),
        "spec": given(
            runtimeRef={
                "apiGroup": "trainer.kubeflow.org",
                "kind": job.runtime_kind,
                "name": job.runtime,
            },
            activeDeadlineSeconds=job.deadline,
            managedBy=job.managed_by,
            trainer=trainer if job.trainer else None,
            **patches,
        ),
    }


def _override(patch: Patch) -> Body:
    return given(
        targetJobs=[{"name": patch.job}],
        metadata=_metadata(patch.pod),
        spec=pod_spec(patch.pod),
    )


def _patch(patch: Patch) -> Body:
    pod = given(metadata=_metadata(patch.pod), spec=pod_spec(patch.pod))
    job = {"name": patch.job, "template": {"spec": {"template": pod}}}
    return {
        "manager": patch.manager,
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}},
    }


def _metadata(pod: Pod) -> Body:
    return given(labels=dict(pod.labels), annotations=dict(pod.annotations))


def _runtime_origins(runtime: Runtime) -> dict[tuple[Key, ...], Route]:
    found: dict[tuple[Key, ...], Route] = {
        ("spec", "template", "spec", "failurePolicy", "maxRestarts"): runtime.where(
            "max_restarts"
        ),
    }
    if runtime.jobs:
        pod = runtime.jobs[0].pod
        found[(*_POD, "tolerations")] = pod.where("tolerations")
        found[(*_POD, "volumes")] = pod.where("volumes")
        found[(*_POD, "nodeSelector")] = pod.where("node_selector")
        found[(*_POD, "terminationGracePeriodSeconds")] = pod.where("grace_seconds")
        found[(*_POD, "serviceAccountName")] = pod.where("service_account")
        if pod.excluded_nodes:
            found[(*_POD, "affinity")] = pod.where("excluded_nodes")
        if pod.pull_secrets:
            found[(*_POD, "imagePullSecrets")] = pod.where("pull_secrets")
        annotations = (*_POD[:-1], "metadata", "annotations")
        found.update(
            ((*annotations, key), pod.where(f"annotations.{key}"))
            for key in pod.annotations
            if f"annotations.{key}" in pod.origins
        )
        found.update(
            ((*_POD, "containers", index, "lifecycle"), each.where("pre_stop"))
            for index, each in enumerate(pod.containers)
            if each.pre_stop
        )
        found.update(
            ((*_POD, "containers", index, "workingDir"), each.where("working_dir"))
            for index, each in enumerate(pod.containers)
            if each.working_dir
        )
        found.update(
            ((*_POD, "volumes", index), pod.where(f"volumes.{each.name}"))
            for index, each in enumerate(pod.volumes)
            if f"volumes.{each.name}" in pod.origins
        )
        for index, each in enumerate(pod.init_containers):
            here = (*_POD, "initContainers", index)
            found[here] = each.at
            found.update(
                ((*here, key), each.where(key))
                for key in _OF_CONTAINER
                if getattr(each, key)
            )
    return found


_OF_CONTAINER = ("image", "command", "args", "env")
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


_WORDS = (("spec", "trainer", "command"), ("spec", "trainer", "args"))
_LIMITS = ("spec", "trainer", "resourcesPerNode", "limits")
_ASKED = {
    "cpu": "cpu",
    "memory": "memory",
    "ephemeral-storage": "ephemeralStorage",
    GPU: "accelerators",
    NEURON: "accelerators",
    EFA: "efa",
    HUGEPAGES: "hugePages",
}


def _job_origins(job: TrainJob, old: bool) -> dict[tuple[Key, ...], Route]:
    found: dict[tuple[Key, ...], Route] = {
        ("spec", *path): job.where(name) for path, name in _FIELDS
    }
    found.update(
        (("spec", "trainer", "env", index), job.where(f"env.{each.name}"))
        for index, each in enumerate(job.env)
        if f"env.{each.name}" in job.origins
    )
    asked = job.where("limits")
    found.update(
        ((*_LIMITS, name), asked / _ASKED[name])
        for name in job.limits
        if name in _ASKED
    )
    found[("metadata", "name")] = job.where("name")
    found[("metadata", "namespace")] = job.where("namespace")
    found[("metadata", "labels", QUEUE)] = job.where("queue")
    found[("metadata", "labels", PRIORITY)] = job.where("priority")
    found[("spec", "podTemplateOverrides" if old else "runtimePatches")] = job.where(
        "patches"
    )
    return found
