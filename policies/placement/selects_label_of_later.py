from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.core.pools.plan import Pool
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.affinity import affinities
from trainyard.judge.model.bodies import Template, body_at, templates
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.plan import Plan
from trainyard.plan.scheduling import NODEPOOL_LABEL

_GPU = "karpenter.k8s.aws/instance-gpu"
_LATER: Mapping[str, str] = {
    "nvidia.com/gpu.memory": f"select `{_GPU}-memory`, in MiB",
    "nvidia.com/gpu.product": f"select `{_GPU}-name`, like `h100`",
    "nvidia.com/gpu.count": f"select `{_GPU}-count`",
    "nvidia.com/gpu.family": "select `karpenter.k8s.aws/instance-family`",
    "nvidia.com/gpu.machine": "select `node.kubernetes.io/instance-type`",
    "nvidia.com/gpu.present": f"select `{_GPU}-manufacturer: nvidia`, or ask for the GPUs alone",
    "nvidia.com/": "select the pool or the instance type",
    "feature.node.kubernetes.io/": "select the pool or the instance type",
    "amd.com/": "select the pool or the instance type",
    "karpenter.sh/registered": "remove it; `karpenter.sh/nodepool` selects the pool",
    "karpenter.sh/initialized": "remove it; `karpenter.sh/nodepool` selects the pool",
}
"""Labels that come after the node: of GPU Feature Discovery, Node Feature Discovery, Karpenter itself."""
_NEVER: Mapping[str, str] = {
    "karpenter.sh/provisioner-name": "write `karpenter.sh/nodepool`, with the name of the pool",
    "karpenter.k8s.aws/instance-gpu-vendor": f"write `{_GPU}-manufacturer`",
    "karpenter.k8s.aws/instance-pods": "remove it",
    "cloud.google.com/": "select the pool or the instance type: this is a label of Google's nodes",
    "kubernetes.azure.com/": "select the pool or the instance type: this is a label of Azure's nodes",
    "agentpool": "select the pool: this is a label of Azure's nodes",
    "eks.amazonaws.com/nodegroup": "write `karpenter.sh/nodepool`: this is a label of managed node groups",
    "eks.amazonaws.com/capacityType": "write `karpenter.sh/capacity-type`",
    "alpha.eksctl.io/": "write `karpenter.sh/nodepool`: this is a label of eksctl's node groups",
    "k8s.amazonaws.com/accelerator": f"select `{_GPU}-name`, or add the label to the pool",
    "eks.amazonaws.com/fargate-profile": "remove it: this is a label of Fargate's nodes",
    "topology.gke.io/": "select the pool or the instance type: this is a label of Google's nodes",
    "node.kubernetes.io/lifecycle": "write `karpenter.sh/capacity-type`",
    "node-role.kubernetes.io/": "select the pool, or a label of your own that the pool has",
    "kubernetes.io/role": "select the pool, or a label of your own that the pool has",
}
"""Labels that Karpenter's nodes of EC2 have only where their pool says so."""
_OF_OTHERS: Mapping[str, str] = {
    "sagemaker.amazonaws.com/": "remove it: this is a label of HyperPod's nodes",
    "eks.amazonaws.com/compute-type": "remove it: this is a label of Fargate and of EKS Auto Mode",
    "eks.amazonaws.com/fargate-profile": "remove it: this is a label of Fargate's nodes",
}
"""Labels of nodes that may be in the same cluster, whatever the set has: wrong beside the name of a pool."""
_ASKS = ("In", "Exists", "Gt", "Lt", "Gte", "Lte")


@rule("PLC117")
def selects_label_of_later(plan: Plan, world: World) -> Iterator[Finding]:
    """Pods ask for a label that new nodes of Karpenter do not have when they are planned.

    Karpenter launches a node only if pods would fit there by the labels that the pool and the instance type are known
    to give it (karpenter v1.14, scheduling: well-known and user-defined labels). What GPU Feature Discovery or Node
    Feature Discovery writes comes after the node has started, and so do `karpenter.sh/registered` and
    `karpenter.sh/initialized`; labels of node groups, of other clouds and of Karpenter before v1 never come. A pool
    that starts empty stays empty. A pool whose own labels or requirements have the label is known to give it.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}}}}}}]}}}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                {matchExpressions: [{key: nvidia.com/gpu.memory, operator: Gt, values: ["40000"]}]}]}}}
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py],
                resources: {requests: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1},
                  limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}}]

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/provisioner-name: gpu}
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py]}]

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu, sagemaker.amazonaws.com/node-health-status: Schedulable}
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py]}]

        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: tune, namespace: team-a,
          annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool}}
        spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {restartPolicy: Never,
          nodeSelector: {karpenter.sh/nodepool: gpu},
          containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py]}]}}}}}]}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {template: {metadata: {labels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}}}}}}]}}}
    """
    if not plan.of(NodePool):
        return
    for template in world.once(templates):
        selector = template.pod.node_selector
        for key in selector:
            at = template.pod.where("node_selector") / key
            yield from _judged(template.title, key, at, selector, world)
    for at, (template, key) in world.once(_exclusive).items():
        yield from _judged(template.title, key, at, template.pod.node_selector, world)
    for affinity in affinities(world):
        for pods in affinity.pods:
            at = pods.at / "topologyKey"
            selector = affinity.pod.node_selector
            yield from _judged(affinity.title, pods.topology, at, selector, world)
        asked = [[each for each in term if each.operator in _ASKS] for term in affinity.nodes]
        keys = [{each.key for each in term if _advice(each.key)} for term in asked]
        if not keys or not all(keys):
            continue  # the pods fit by another term
        first = next(each for each in asked[0] if each.key in keys[0])
        at = first.at / "key"
        yield from _judged(affinity.title, first.key, at, affinity.pod.node_selector, world)


_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
"""Each job of a JobSet is alone where its nodes have one value of a label (jobset v0.12.0, pod_mutating_webhook.go)."""


def _exclusive(world: Reading) -> Mapping[Route, tuple[Template, str]]:
    """The places where a JobSet, or a runtime's, names such a label, each with the first pods of it."""
    found: dict[Route, tuple[Template, str]] = {}
    for template in world.once(templates):
        top = Route(template.pod.at[:1])
        for metadata in (top / "metadata", top / "spec" / "template" / "metadata"):
            annotations = mapping(body_at(world, metadata), "annotations")
            if _EXCLUSIVE in annotations:
                at = metadata / "annotations" / _EXCLUSIVE
                found.setdefault(at, (template, str(annotations[_EXCLUSIVE])))
    return found


def _judged(
    title: str, key: str, at: Route, selector: Mapping[str, str], world: Reading
) -> Iterator[Finding]:
    advice = _advice(key)
    if not advice and NODEPOOL_LABEL in selector:
        advice = _known(_OF_OTHERS, key)
    if not advice:
        return
    pools = _pools(key, selector, world)
    if not pools or any(_gives(pool, key, world) for pool in pools):
        return
    comes = "comes after the node" if _known(_LATER, key) else "no node of Karpenter has"
    yield Finding(
        f"{title} asks for the label `{key}`, which {comes}",
        at,
        label="no node is launched for it",
        help=advice,
    )


def _pools(key: str, selector: Mapping[str, str], world: Reading) -> list[Pool]:
    """Where the pods would land without the label, if all of it is of Karpenter and starts empty."""
    others = {
        name: value
        for name, value in selector.items()
        if name != key and not _advice(name) and not _known(_OF_OTHERS, name)
    }
    pools = [pool for pool in world.pools if world.may_match(pool, others)]
    if all(isinstance(pool, NodePool) for pool in pools):
        return pools
    if _known(_NEVER, key) and key != "karpenter.sh/provisioner-name":
        return []
    return [pool for pool in pools if isinstance(pool, NodePool)]


def _gives(pool: Pool, key: str, world: Reading) -> bool:
    """Whether a pool may have nodes with the label: it says so, has nodes before a pod comes, or is of nobody known."""
    if not isinstance(pool, NodePool) or not pool.node_class or not world.starts_empty(pool):
        return True
    if pool.auto and _known(_OF_OTHERS, key):
        return True
    return key in pool.labels or any(each.key == key for each in pool.requirements)


def _advice(key: str) -> str:
    return _known(_LATER, key) or _known(_NEVER, key)


def _known(labels: Mapping[str, str], key: str) -> str:
    for known, advice in labels.items():
        if key == known or (known.endswith("/") and key.startswith(known)):
            return advice
    return ""
