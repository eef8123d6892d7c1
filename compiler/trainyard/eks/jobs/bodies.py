"""Bodies of pods (core/v1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from trainyard.core.pods.plan import Container, EnvVar, Mount, Pod, ReplicatedJob, Volume
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.language.places import Key
from trainyard.output.lowering.body import fields_given, quantities, toleration_bodies
from trainyard.output.manifest import Body
from trainyard.plan.scheduling import HOSTNAME, Requirement

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
POD = ("template", "spec")
"""Where what has a pod template has the spec of its pod."""
KeyPath = tuple[Key, ...]
Written = tuple[Body, list[KeyPath]]
"""The spec of an object, and the paths of its pods' specs, in the order of the job's parts."""


def pod_template(pod: Pod) -> Body:
    """core/v1 PodTemplateSpec."""
    return fields_given(
        metadata=fields_given(labels=dict(pod.labels), annotations=dict(pod.annotations)),
        spec=pod_spec(pod),
    )


def pod_spec(pod: Pod) -> Body:
    """core/v1 PodSpec."""
    return fields_given(
        restartPolicy=pod.restart_policy,
        terminationGracePeriodSeconds=pod.grace_seconds,
        serviceAccountName=pod.service_account,
        priorityClassName=pod.priority_class,
        hostNetwork=pod.host_network or None,
        securityContext=_of_volumes(pod.fs_group),
        nodeSelector=dict(pod.node_selector),
        tolerations=toleration_bodies(pod.tolerations),
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
    return fields_given(
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
    security = fields_given(
        runAsUser=container.run_as_user,
        privileged=container.privileged or None,
        capabilities=fields_given(add=list(container.capabilities)),
    )
    resources = fields_given(
        requests=quantities(container.requests), limits=quantities(container.limits)
    )
    lifecycle = None
    if container.pre_stop:
        lifecycle = {"preStop": {"exec": {"command": list(container.pre_stop)}}}
    return fields_given(
        name=container.name,
        image=container.image,
        command=list(container.command),
        args=list(container.args),
        workingDir=container.working_dir,
        env=env_bodies(container.env),
        resources=resources,
        securityContext=security,
        volumeMounts=[_mount(mount) for mount in container.mounts],
        lifecycle=lifecycle,
    )


def env_bodies(variables: Iterable[EnvVar]) -> list[Body]:
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
    return fields_given(
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
        source = fields_given(medium=volume.medium, sizeLimit=size)
        return {"name": volume.name, "emptyDir": source}
    if volume.type == "ephemeral":
        return {"name": volume.name, "ephemeral": _own_claim(volume)}
    key = _SOURCES.get(volume.type, "name")
    of_host = fields_given(type=volume.host_type)
    source = {key: volume.source, **of_host}
    return {"name": volume.name, volume.type: source}


def _own_claim(volume: Volume) -> Body:
    """core/v1 EphemeralVolumeSource: a claim that is made for the pod, and deleted with it."""
    requests = None
    if volume.size:
        requests = {"requests": {"storage": str(volume.size)}}
    spec = fields_given(
        accessModes=["ReadWriteOnce"], storageClassName=volume.source, resources=requests
    )
    return {"volumeClaimTemplate": {"spec": spec}}


# core/v1 Volume: the field of each type that names its source; of the others it is `name`.
_SOURCES = {"persistentVolumeClaim": "claimName", "hostPath": "path", "secret": "secretName"}


def runtime_spec(runtime: Runtime) -> Body:
    """The spec of a JobSet."""
    success = {}
    if runtime.decisive:
        success = {"operator": "All", "targetReplicatedJobs": list(runtime.decisive)}
    return fields_given(
        successPolicy=success,
        failurePolicy=fields_given(
            maxRestarts=runtime.max_restarts, restartStrategy=runtime.restart_strategy
        ),
        replicatedJobs=[_replicated(job) for job in runtime.jobs],
    )


def _replicated(job: ReplicatedJob) -> Body:
    dependencies = [{"name": name, "status": "Complete"} for name in job.depends_on]
    ready = job.ready_after
    dependencies += [{"name": name, "status": "Ready"} for name in ready]
    template = fields_given(
        metadata=fields_given(labels=fields_given(**{STEP: job.step})),
        spec=fields_given(backoffLimit=job.backoff_limit, template=pod_template(job.pod)),
    )
    return fields_given(
        name=job.name,
        replicas=job.replicas if job.replicas != 1 else None,
        dependsOn=dependencies,
        template=template,
    )


def run_policy_body(job: TrainJob, runtime: Runtime) -> Body:
    return fields_given(
        cleanPodPolicy=runtime.settings.get("cleanPodPolicy"),
        backoffLimit=runtime.max_restarts,
        activeDeadlineSeconds=job.deadline,
        managedBy=job.managed_by,
    )


def replica_bodies(key: str, spec: Body, runtime: Runtime) -> Written:
    """Replicas by role. Their restart policy is next to the pod's template, and the operator copies it into the pod."""
    specs: Body = {}
    pods: list[KeyPath] = []
    for part in runtime.jobs:
        specs[part.name] = fields_given(
            replicas=part.replicas,
            restartPolicy=part.pod.restart_policy,
            template=pod_template(_without_policy(part.pod)),
        )
        pods.append(("spec", key, part.name, *POD))
    return {**spec, key: specs}, pods


def _without_policy(pod: Pod) -> Pod:
    return replace(pod, restart_policy=None)
