from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.catalog import Catalog, InstanceType
from trainyard.core.pods.plan import GPU, Pod
from trainyard.judge.model.affinity import Affinity, affinities, types_named
from trainyard.judge.model.values import mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.plan import Plan
from trainyard.plan.scheduling import HOSTNAME


@rule("PLC057")
def pods_together_exceed_node(plan: Plan, world: World) -> Iterator[Finding]:
    """Pods that must be on one node together may meet a node that is too small for them.

    Workers with a required `podAffinity` to their master by `kubernetes.io/hostname` go where the master is; the
    scheduler places the master before, wherever one pod fits (Kubernetes 1.36, inter-pod affinity). On a smaller node
    the workers stay Pending, and the master waits for them. One pod with all of the GPUs cannot be torn apart. An
    error where no type that the job names is large enough, a warning where some are not.

    ## Fails

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b}
        spec:
          pytorchReplicaSpecs:
            Master:
              replicas: 1
              template:
                metadata: {labels: {role: master}}
                spec:
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                    {matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In,
                      values: [g5.8xlarge, g5.12xlarge]}]}]}}}
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    resources: {requests: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1},
                      limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}}]
            Worker:
              replicas: 3
              template:
                metadata: {labels: {role: worker}}
                spec:
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  affinity:
                    nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                      {matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In,
                        values: [g5.8xlarge, g5.12xlarge]}]}]}}
                    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
                    {labelSelector: {matchLabels: {role: master}}, topologyKey: kubernetes.io/hostname}]}
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    resources: {requests: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1},
                      limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}}]

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b}
        spec:
          pytorchReplicaSpecs:
            Master:
              replicas: 1
              template:
                spec:
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                    {matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In,
                      values: [g5.8xlarge, g5.12xlarge]}]}]}}}
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    resources: {requests: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1},
                      limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}}]
            Worker:
              replicas: 3
              template:
                spec:
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  affinity:
                    nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                      {matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In,
                        values: [g5.8xlarge, g5.12xlarge]}]}]}}
                    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
                    {topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [
                      {key: training.kubeflow.org/job-name, operator: In, values: [bert]},
                      {key: training.kubeflow.org/replica-type, operator: In, values: [master]}]}}]}
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    resources: {requests: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1},
                      limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}}]

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-b}
        spec:
          completionMode: Indexed
          completions: 4
          parallelism: 4
          template:
            spec:
              restartPolicy: Never
              tolerations: [{key: nvidia.com/gpu, operator: Exists}]
              affinity:
                nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                  {matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In,
                    values: [g5.2xlarge, g5.12xlarge]}]}]}}
                podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
                  {labelSelector: {matchLabels: {job-name: evaluate}}, topologyKey: kubernetes.io/hostname}]}
              containers: [{name: evaluate, image: "public.ecr.aws/team/train:1.0", command: [python, evaluate.py],
                resources: {requests: {cpu: 1, memory: 4Gi, nvidia.com/gpu: 1},
                  limits: {cpu: 1, memory: 4Gi, nvidia.com/gpu: 1}}}]

    ## Passes

        # as the first that fails, but
        kind: PyTorchJob
        spec:
          pytorchReplicaSpecs:
            Master:
              template: {spec: {nodeSelector: {node.kubernetes.io/instance-type: g5.12xlarge}, affinity: null}}
            Worker: {template: {spec: {affinity: {nodeAffinity: null}}}}
    """
    known = list(affinities(world))
    by_place = {affinity.pod.at: affinity for affinity in known}
    bodies = {manifest.id: manifest.body for manifest in world.manifests}
    for affinity in known:
        for term in affinity.pods:
            if term.topology != HOSTNAME or term.narrowed or not term.labels:
                continue
            group = _Group(affinity, term.labels, bodies.get(str(term.at[0])))
            yield from group.judged(term.at, by_place, world.catalog)


class _Group:
    """The pods of a job with replicas that must be on one node: those of an affinity, and those that it is to. None
    where it is to pods of others, which may be on several nodes."""

    def __init__(self, affinity: Affinity, wanted: Mapping[str, str], body: Any) -> None:
        self.affinity = affinity
        roles = list(_roles(body))
        meant = [path for path, role in roles if _has(_labels(body, path, role), wanted)]
        own = affinity.pod.at[1:-1]
        self.parts = [
            (path, role) for path, role in roles if meant and (path == own or path in meant)
        ]

    def judged(
        self, at: Route, by_place: Mapping[Route, Affinity], catalog: Catalog
    ) -> Iterator[Finding]:
        total = sum(_gpus(role) for _, role in self.parts)
        types: list[InstanceType] = []
        for path, role in self.parts:
            place = Route((at[0], *path, "template"))
            names = _names(role, by_place.get(place))
            instances = [catalog.instance(name) for name in names]
            types = types or [instance for instance in instances if instance]
        small = [instance for instance in types if instance.gpus < total]
        if sum(_replicas(role) for _, role in self.parts) < 2 or not small:
            return
        least = min(small, key=lambda instance: instance.gpus)
        title = self.affinity.title
        certain = len(small) == len(types)
        yield Finding(
            f"pods of {title} ask for {total} GPUs on one node, and `{least.name}` has {least.gpus}",
            at,
            label="some of them stay Pending, the others wait",
            help="ask for all GPUs in one pod, or name only types that have as many",
            severity=Severity.ERROR if certain else Severity.WARNING,
        )


_WITH_REPLICAS = ("Deployment", "StatefulSet", "Job")


def _roles(body: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The replica specs of a job of the training operator, with their paths; of a workload with replicas all of it."""
    template = value_at(body, "spec", "template")
    if value_at(body, "kind") in _WITH_REPLICAS and isinstance(template, dict):
        replicas = value_at(body, "spec", "replicas") or value_at(body, "spec", "parallelism")
        yield ("spec",), {"replicas": replicas, "template": template}
        return
    for field, specs in mapping(body, "spec").items():
        if str(field).endswith("ReplicaSpecs") and isinstance(specs, dict):
            for role, spec in specs.items():
                yield (("spec", str(field), str(role)), spec)


def _replicas(role: Any) -> int:
    replicas = value_at(role, "replicas")
    return replicas if isinstance(replicas, int) else 1


def _gpus(role: Any) -> int:
    total = 0
    containers = value_at(role, "template", "spec", "containers")
    for container in containers if isinstance(containers, list) else ():
        asked = value_at(container, "resources", "limits", GPU)
        total += int(asked) if str(asked).isdecimal() else 0
    return _replicas(role) * total


def _names(role: Any, affinity: Affinity | None) -> tuple[str, ...]:
    """The instance types that a role may land on by its own words."""
    if affinity is not None:
        return types_named(affinity, affinity.pod)
    selector = mapping(role, "template", "spec", "nodeSelector")
    return types_named(None, Pod(node_selector=selector))


def _labels(body: Any, path: tuple[str, ...], role: Any) -> dict[str, str]:
    """The labels of the pods of a role: of its template, and those of the operator (kubeflow/training-operator v1.9.3,
    pkg/apis/kubeflow.org/v1/common_types.go) or of the Job (Kubernetes 1.36, well-known labels)."""
    name = path[-1].lower()
    job = str(value_at(body, "metadata", "name"))
    labels = {"training.kubeflow.org/job-name": job, "training.kubeflow.org/replica-type": name}
    if value_at(body, "kind") == "Job":
        labels = {"batch.kubernetes.io/job-name": job, "job-name": job}
    if name == "master":
        labels["training.kubeflow.org/job-role"] = name
    return {**labels, **mapping(role, "template", "metadata", "labels")}


def _has(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(labels.get(key) == text for key, text in wanted.items())
