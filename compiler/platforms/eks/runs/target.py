"""Target: Kubeflow Trainer's ClusterTrainingRuntime and TrainJob (2.1: podTemplateOverrides; 2.2 on: runtimePatches).

Neither `suspend` nor anything else that Kueue or Trainer own is ever written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from compiler.core.pods.plan import (
    EFA,
    GPU,
    HUGEPAGES,
    NEURON,
    Container,
    EnvVar,
    Mount,
    Pod,
    ReplicatedJob,
    Volume,
)
from compiler.manifest import Body, Manifest
from compiler.output.artifact import Places
from compiler.places import Key
from compiler.plan import Plan
from compiler.plan.scheduling import HOSTNAME, Requirement
from compiler.platforms.eks.flux.plan import chart_version
from compiler.platforms.eks.runs.plan import (
    TRAIN_JOB,
    TRAINER_CHART,
    FileSet,
    InitializerSource,
    Patch,
    Runtime,
    TrainJob,
)
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
LEAST = "kueue.x-k8s.io/job-min-parallelism"
# Kueue lowers the parallelism of what it admits in part, and refuses every edit of it from then on (kueue v0.19.2,
# job_webhook.go): Flux applies the job where it is not there, and never again (kustomize-controller v1.9).
ONCE = {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}
# Kueue writes node selectors, labels and gates into the groups of what it admits, and the list of them is one value for
# server-side apply (kuberay v1.6.2, workerGroupSpecs has no list type): Flux would take all of that back. Observed with
# Kueue 0.19.2 and Kubernetes 1.36: an apply of an admitted RayJob took gates and labels of its workers, not the head's.
_ONE_LIST = ("RayJob",)
_JOBS = ("spec", "template", "spec", "replicatedJobs")
_POD = ("template", "spec", "template", "spec")
_PATCHES = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", *_JOBS[1:])


def lower(plan: Plan) -> Iterator[Manifest]:
    """Runtimes a stage before the jobs: a TrainJob is refused while its runtime is not there."""
    old = (chart_version(plan, TRAINER_CHART) or "").startswith("2.1.")
    for runtime in plan.of(Runtime):
        if runtime.kind:  # the pods of a job itself: ``compiler.platforms.eks.own_pods``
            continue
        body = runtime_body(runtime)
        yield Manifest(body, path(RUNTIMES, body), runtime.at, _runtime_origins(runtime))
    for files in plan.of(FileSet):
        body = files_body(files)
        places: Places = {}
        for key in files.files:
            origin = files.where(f"files.{key}")
            places["data", key] = origin
        yield Manifest(body, path(JOBS, body), files.at, places)
    for job in plan.of(TrainJob):
        if job.kind != TRAIN_JOB:
            continue
        body = job_body(job, overrides=old)
        yield Manifest(body, path(JOBS, body), job.at, _job_origins(job, old), _WORDS)


def runtime_body(runtime: Runtime) -> Body:
    """ClusterTrainingRuntime, or TrainingRuntime where it has a namespace."""
    kind = "TrainingRuntime" if runtime.namespace else "ClusterTrainingRuntime"
    labels = {}
    policy = given(numNodes=runtime.nodes)
    if runtime.framework:
        labels["trainer.kubeflow.org/framework"] = runtime.framework
        policy[runtime.framework] = dict(runtime.settings)
    return {
        **head(
            API,
            kind,
            runtime.name,
            runtime.namespace,
            labels=labels,
            annotations=_runtime_annotations(runtime),
        ),
        "spec": {"mlPolicy": policy, "template": {"spec": runtime_spec(runtime)}},
    }


def runtime_spec(runtime: Runtime) -> Body:
    """The spec of a JobSet."""
    success = {}
    if runtime.decisive:
        success = {"operator": "All", "targetReplicatedJobs": list(runtime.decisive)}
    return given(
        successPolicy=success,
        failurePolicy=given(
            maxRestarts=runtime.max_restarts, restartStrategy=runtime.restart_strategy
        ),
        replicatedJobs=[_replicated(job) for job in runtime.jobs],
    )


def files_body(files: FileSet) -> Body:
    """ConfigMap. A text with `${` would be changed by Flux (kustomize-controller 1.9)."""
    if files.prune:
        annotations = {}
    else:
        annotations = dict(NO_PRUNE)
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
    """How Flux applies it. Flux would replace its own variables in the texts of containers too."""
    if runtime.prune:
        annotations = {}
    else:
        annotations = dict(NO_PRUNE)
    pods = (_texts(job.pod) for job in runtime.jobs)
    texts = chain.from_iterable(pods)
    return unsubstituted(annotations, texts)


def _texts(pod: Pod) -> Iterator[str]:
    """What the spec says in a pod of a runtime, word for word."""
    yield from pod.annotations.values()
    for container in (*pod.init_containers, *pod.containers):
        yield container.working_dir
        yield from container.command
        yield from container.args
        for variable in container.env:
            yield variable.value or ""


def _replicated(job: ReplicatedJob) -> Body:
    dependencies = [{"name": name, "status": "Complete"} for name in job.depends_on]
    ready = job.ready_after
    dependencies += [{"name": name, "status": "Ready"} for name in ready]
    template = given(
        metadata=given(labels=given(**{STEP: job.step})),
        spec=given(backoffLimit=job.backoff_limit, template=pod_template(job.pod)),
    )
    return given(
        name=job.name,
        replicas=job.replicas if job.replicas != 1 else None,
        dependsOn=dependencies,
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
        hostNetwork=pod.host_network or None,
        securityContext=_of_volumes(pod.fs_group),
        nodeSelector=dict(pod.node_selector),
        tolerations=tolerations(pod.tolerations),
        affinity=_affinity(pod),
        imagePullSecrets=_names(pod.pull_secrets),
        initContainers=_containers(pod.init_containers),
        containers=_containers(pod.containers),
        volumes=[_volume(volume) for volume in pod.volumes],
    )


def _of_volumes(group: int | None) -> Body:
    """core/v1 PodSecurityContext. A volume that belongs to the group already is not walked through again."""
    if group is None:
        return {}
    return {"fsGroup": group, "fsGroupChangePolicy": "OnRootMismatch"}


def _names(names: Iterable[str]) -> list[Body]:
    return [{"name": name} for name in names]


def _containers(containers: Iterable[Container]) -> list[Body]:
    return [_container(container) for container in containers]


def _expression(requirement: Requirement) -> Body:
    return given(
        key=requirement.key, operator=requirement.operator, values=list(requirement.values)
    )


def _affinity(pod: Pod) -> Body:
    """Required node affinity to one of several pools, and to all but single hosts (core/v1 NodeAffinity)."""
    terms = []
    for pool in pod.pools:
        expressions = [_expression(requirement) for requirement in pool]
        terms.append(expressions)
    if pod.excluded_nodes:
        hosts = list(pod.excluded_nodes)
        others = {"key": HOSTNAME, "operator": "NotIn", "values": hosts}
        wanted = terms or [[]]
        terms = [[*term, others] for term in wanted]
    if not terms:
        return {}
    required = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _container(container: Container) -> Body:
    security = given(
        runAsUser=container.run_as_user,
        privileged=container.privileged or None,
        capabilities=given(add=list(container.capabilities)),
    )
    resources = given(requests=quantities(container.requests), limits=quantities(container.limits))
    lifecycle = None
    if container.pre_stop:
        lifecycle = {"preStop": {"exec": {"command": list(container.pre_stop)}}}
    return given(
        name=container.name,
        image=container.image,
        command=list(container.command),
        args=list(container.args),
        workingDir=container.working_dir,
        env=_environment(container.env),
        resources=resources,
        securityContext=security,
        volumeMounts=[_mount(mount) for mount in container.mounts],
        lifecycle=lifecycle,
    )


def _environment(variables: Iterable[EnvVar]) -> list[Body]:
    return [env_body(variable) for variable in variables]


def env_body(variable: EnvVar) -> Body:
    """core/v1 EnvVar."""
    if variable.secret is not None:
        return {
            "name": variable.name,
            "valueFrom": {"secretKeyRef": {"name": variable.secret, "key": variable.key}},
        }
    if variable.pod_field is not None:
        source = {"fieldRef": {"fieldPath": variable.pod_field}}
        return {"name": variable.name, "valueFrom": source}
    return {"name": variable.name, "value": variable.value or ""}


def _mount(mount: Mount) -> Body:
    return given(
        name=mount.volume,
        mountPath=mount.path,
        subPath=mount.sub_path,
        readOnly=mount.read_only or None,
    )


def _volume(volume: Volume) -> Body:
    if volume.type == "emptyDir":
        size = None
        if volume.size is not None:
            size = str(volume.size)
        source = given(medium=volume.medium, sizeLimit=size)
        return {"name": volume.name, "emptyDir": source}
    if volume.type == "ephemeral":
        return {"name": volume.name, "ephemeral": _own_claim(volume)}
    key = _SOURCES.get(volume.type, "name")
    of_host = given(type=volume.host_type)
    source = {key: volume.source, **of_host}
    return {"name": volume.name, volume.type: source}


def _own_claim(volume: Volume) -> Body:
    """core/v1 EphemeralVolumeSource: a claim that is made for the pod, and deleted with it."""
    requests = None
    if volume.size:
        requests = {"requests": {"storage": str(volume.size)}}
    spec = given(accessModes=["ReadWriteOnce"], storageClassName=volume.source, resources=requests)
    return {"volumeClaimTemplate": {"spec": spec}}


# core/v1 Volume: the field of each type that names its source; of the others it is `name`.
_SOURCES = {"persistentVolumeClaim": "claimName", "hostPath": "path", "secret": "secretName"}


def job_body(job: TrainJob, *, overrides: bool) -> Body:
    """TrainJob. ``overrides``: patches in the form of Trainer 2.1."""
    metadata = job_head(job, API)
    runtime_ref = {
        "apiGroup": "trainer.kubeflow.org",
        "kind": job.runtime_kind,
        "name": job.runtime,
    }
    laid_over = _patches(job.patches)
    patches: dict[str, list[Body]] = {"runtimePatches": laid_over}
    if overrides:
        patches = {"podTemplateOverrides": list(map(_override, job.patches))}
    sources = job.initializers
    initializers = {source.name: _source(source) for source in sources}
    spec = given(
        runtimeRef=runtime_ref,
        activeDeadlineSeconds=job.deadline,
        managedBy=job.managed_by,
        initializer=initializers,
        trainer=_trainer(job) if job.trainer else None,
        **patches,
    )
    return {**metadata, "spec": spec}


def job_head(job: TrainJob, api: str, own: Runtime | None = None) -> Body:
    """apiVersion, kind and metadata of a job; ``own``: the pods that its object has itself."""
    labels = dict(job.labels)
    if job.queue:
        labels[QUEUE] = job.queue
    if job.priority:
        labels[PRIORITY] = job.priority
    return head(
        api,
        job.kind,
        job.name,
        job.namespace,
        labels=labels,
        annotations=_job_annotations(job, own),
    )


def _source(source: InitializerSource) -> Body:
    return given(
        storageUri=source.uri,
        env=_environment(source.env),
        secretRef={"name": source.secret} if source.secret else None,
    )


def _trainer(job: TrainJob) -> Body:
    resources = given(requests=quantities(job.requests), limits=quantities(job.limits))
    return given(
        numNodes=job.nodes,
        numProcPerNode=job.processes,
        image=job.image,
        command=list(job.command),
        args=list(job.args),
        env=_environment(job.env),
        resourcesPerNode=resources,
    )


def _job_annotations(job: TrainJob, own: Runtime | None) -> Body:
    annotations = dict(job.annotations)
    if not job.prune:
        annotations.update(NO_PRUNE)
    if job.least_nodes is not None:
        annotations[LEAST] = str(job.least_nodes)
    if job.least_nodes is not None or job.kind in _ONE_LIST:
        annotations.update(ONCE)
    values = [variable.value or "" for variable in job.env]
    for source in job.initializers:
        values.append(source.uri or "")
        values += [variable.value or "" for variable in source.env]
    texts = [*job.command, *job.args, *values, *job.annotations.values()]
    if own is not None:
        for part in own.jobs:
            texts += _texts(part.pod)
    return unsubstituted(annotations, texts)


def _override(patch: Patch) -> Body:
    return given(
        targetJobs=[{"name": patch.job}], metadata=_metadata(patch.pod), spec=pod_spec(patch.pod)
    )


def _patches(patches: Iterable[Patch]) -> list[Body]:
    """runtimePatches: a list by manager, so that those of one manager are one entry."""
    jobs: dict[str, list[Body]] = {}
    for patch in patches:
        metadata = _metadata(patch.pod)
        pod = given(metadata=metadata, spec=pod_spec(patch.pod))
        job = {"name": patch.job, "template": {"spec": {"template": pod}}}
        jobs.setdefault(patch.manager, []).append(job)
    return [
        {"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": own}}}}
        for manager, own in jobs.items()
    ]


def _metadata(pod: Pod) -> Body:
    labels = dict(pod.labels)
    return given(labels=labels, annotations=dict(pod.annotations))


def _runtime_origins(runtime: Runtime) -> Places:
    failure = ("spec", "template", "spec", "failurePolicy")
    restarts = runtime.where("max_restarts")
    places: Places = {(*failure, "maxRestarts"): restarts}
    for index, job in enumerate(runtime.jobs):
        places.update(pod_origins((*_JOBS, index, *_POD), job.pod))
    return places


def pod_origins(spec: tuple[Key, ...], pod: Pod) -> Places:
    """Where the fields of a pod come from; ``spec`` is the path of its spec in the object."""
    places: Places = {
        (*spec, "tolerations"): pod.where("tolerations"),
        (*spec, "volumes"): pod.where("volumes"),
        (*spec, "nodeSelector"): pod.where("node_selector"),
        (*spec, "terminationGracePeriodSeconds"): pod.where("grace_seconds"),
        (*spec, "serviceAccountName"): pod.where("service_account"),
    }
    if pod.pools:
        places[(*spec, "affinity")] = pod.where("pools")
    if pod.excluded_nodes:
        places[(*spec, "affinity")] = pod.where("excluded_nodes")
    if pod.pull_secrets:
        places[(*spec, "imagePullSecrets")] = pod.where("pull_secrets")
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


def _container_origins(spec: tuple[Key, ...], pod: Pod) -> Places:
    places: Places = {}
    for index, container in enumerate(pod.containers):
        here = (*spec, "containers", index)
        if container.pre_stop:
            places[(*here, "lifecycle")] = container.where("pre_stop")
        if container.working_dir:
            places[(*here, "workingDir")] = container.where("working_dir")
        for field in _OF_CONTAINER:
            if field in container.origins and getattr(container, field):
                origin = container.where(field)
                places[(*here, field)] = origin
    for index, container in enumerate(pod.init_containers):
        here = (*spec, "initContainers", index)
        places[here] = container.at
        for field in _OF_CONTAINER:
            if getattr(container, field):
                origin = container.where(field)
                places[(*here, field)] = origin
    return places


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


def _job_origins(job: TrainJob, old: bool) -> Places:
    patches = "podTemplateOverrides" if old else "runtimePatches"
    places: Places = {}
    for field, name in _FIELDS:
        origin = job.where(name)
        places["spec", *field] = origin
    places.update(_env_origins(("spec", "trainer", "env"), job))
    places.update(_limit_origins(_LIMITS, job))
    places.update(head_origins(job))
    places["spec", patches] = job.where("patches")
    for index, patch in enumerate(job.patches):
        if patch.pod.origins:  # all of the job's own pod, over a released runtime
            places.update(pod_origins((*_PATCHES, index, *_POD), patch.pod))
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
    places["metadata", "labels", QUEUE] = job.where("queue")
    places["metadata", "labels", PRIORITY] = job.where("priority")
    return places


def program_origins(container: tuple[Key, ...], job: TrainJob) -> Places:
    """Where the program of a job comes from; ``container`` is the path of the one that runs it."""
    places: Places = {}
    for field in _OF_CONTAINER:
        origin = job.where(field)
        places[(*container, field)] = origin
    places[(*container, "resources")] = job.where("requests")
    places.update(_env_origins((*container, "env"), job))
    places.update(_limit_origins((*container, "resources", "limits"), job))
    return places


def _env_origins(env: tuple[Key, ...], job: TrainJob) -> Places:
    places: Places = {}
    for index, variable in enumerate(job.env):
        origin = f"env.{variable.name}"
        if origin in job.origins:
            place = job.where(origin)
            places[(*env, index)] = place
    return places


def _limit_origins(limits: tuple[Key, ...], job: TrainJob) -> Places:
    places: Places = {}
    for resource in job.limits:
        if resource in _ASKED:
            origin = job.where("limits") / _ASKED[resource]
            places[(*limits, resource)] = origin
    return places
