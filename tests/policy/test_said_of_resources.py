"""What rules about resources say, and where they say nothing, beside the examples of their pages."""

from __future__ import annotations

import pytest

from tests.policy.manifests import JOB, POOL, asking, batch, container, pods, release, required
from tests.policy.saying import found, said

pytestmark = pytest.mark.needs("lint")

QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
TYPE = "node.kubernetes.io/instance-type"


def scaled(scaler: str) -> str:
    """A node group without nodes that a job needs, and what may scale it."""
    return f"""apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {{name: a, region: us-west-2, version: "1.35"}}
autoModeConfig: {{enabled: false}}
managedNodeGroups: [{{name: small, labels: {{size: small}}, instanceType: g6.2xlarge, minSize: 0, desiredCapacity: 0,
  maxSize: 4, nodeRepairConfig: {{enabled: true}}}}]
---
{batch("nodeSelector: {size: small}, " + container(", nvidia.com/gpu: 1"))}
---
{scaler}"""


def elastic(most: int, quota: int) -> str:
    """A job of a queue with so many GPUs, that may grow to so many workers of eight."""
    return f"""apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: bert, namespace: team-a, labels: {{kueue.x-k8s.io/queue-name: research}}}}
spec:
  elasticPolicy: {{rdzvBackend: c10d, minReplicas: 1, maxReplicas: {most}}}
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        spec: {{{container(", nvidia.com/gpu: 8")}}}
---
{QUEUE}metadata: {{name: research}}
spec: {{resourceGroups: [{{flavors: [{{name: gpu, resources: [{{name: nvidia.com/gpu, nominalQuota: {quota}}}]}}]}}]}}
---
{POOL}spec: {{limits: {{$patch: replace, nodes: 100}}}}"""


SAID: dict[str, tuple[str, str, list[str]]] = {
    "a pool without GPUs that the flavor of a job names": (
        "LIM001",
        required(TYPE, "m7i.24xlarge") + "\n---\n" + pods("{spec: {nodeSelector: null}}"),
        ["job `llama` asks for 8 of `nvidia.com/gpu` a node, and `m7i.24xlarge` has 0"],
    ),
    "another job that takes the rest of a node, in another pool": (
        "LIM016",
        "nodePools: [{name: gpu}, {name: more, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: {max: 4}}]\n"
        "queues: [{name: research, quota: [{pool: gpu, nodes: 4}, {pool: more, nodes: 4}]}]\n"
        "jobs: [{name: llama, nodes: 1, resources: {accelerators: 4}}, {name: mixtral, queue: research, pool: more, "
        'nodes: 1, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py], '
        "resources: {accelerators: 4}}]",
        [
            "job `llama` takes 4 of the 8 accelerators of `p4d.24xlarge`, and no job the rest",
            "job `mixtral` takes 4 of the 8 accelerators of `p4d.24xlarge`, and no job the rest",
        ],
    ),
    "a part of a node without EFA": (
        "LIM016",
        "nodePools: [{name: gpu, instanceTypes: [inf2.24xlarge]}]\n"
        "jobs: [{name: llama, nodes: 1, resources: {accelerators: 4}}]",
        [],
    ),
    "accelerators by a misspelt name, which EFA004 reports": (
        "LIM011",
        asking(**{"nvidia.com/gpu": "null", "nvidia/gpu": "8"}),
        [],
    ),
    "a job that trains by its kind": (
        "LIM030",
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: bert, namespace: team-b}\n"
        "spec: {pytorchReplicaSpecs: {Worker: {replicas: 1, template: {spec: {nodeSelector: "
        f"{{{TYPE}: p4d.24xlarge}}, {container('')}}}}}}}}}}}",
        ["job `bert` asks for none of the 8 accelerators of `p4d.24xlarge`"],
    ),
    "a job whose limits Flux fills in": (
        "LIM030",
        batch(
            f"nodeSelector: {{{TYPE}: p4d.24xlarge}}, containers: [{{name: a, image: 'a:1', "
            "command: [torchrun, a.py], resources: {limits: '${LIMITS}'}}]"
        ),
        [],
    ),
    "a job that asks for a device by another name": (
        "LIM030",
        batch(
            f"nodeSelector: {{{TYPE}: p4d.24xlarge}}, "
            + container(", nvidia.com/gpu-of-team: 1", "torchrun, a.py")
        ),
        [],
    ),
    "a job on slices, of several nodes": (
        "LIM037",
        batch(
            "nodeSelector: {karpenter.sh/nodepool: gpu}, "
            + container(", nvidia.com/mig-1g.5gb: 1", "torchrun, a.py"),
            "parallelism: 2, completions: 2, completionMode: Indexed, ",
        ),
        ["job `evaluate` runs on shares of GPUs, `nvidia.com/mig-1g.5gb`, and has 2 nodes"],
    ),
    "a job that exceeds its node and a quota": (
        "LIM010",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a, namespace: team-a}\n"
        "spec: {hard: {requests.nvidia.com/gpu: 8}}\n---\n"
        + asking(**{"nvidia.com/gpu": "16"})
        + f"\n---\n{JOB}spec: {{trainer: {{numNodes: 1}}}}",
        [],
    ),
    "a job that exceeds a quota alone": (
        "LIM010",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a, namespace: team-a}\n"
        "spec: {hard: {requests.nvidia.com/gpu: 8}}",
        ["job `llama` asks for 32 of `nvidia.com/gpu`, and namespace `team-a` may have 8"],
    ),
    "slices of GPUs that are in none": (
        "LIM038",
        required(TYPE, "g5.12xlarge")
        + "\n---\n"
        + batch(
            "nodeSelector: {karpenter.sh/nodepool: gpu}, " + container(", nvidia.com/mig-1g.5gb: 1")
        ),
        [
            "job `evaluate` asks for `nvidia.com/mig-1g.5gb`, and the A10G of `g5.12xlarge` have no such slices"
        ],
    ),
    "slices of a job of a whole cluster": (
        "LIM038",
        "# a whole cluster\n"
        + asking(**{"nvidia.com/mig-1g.20gb": "1"})
        + "\n---\n"
        + pods("{spec: {nodeSelector: null}}"),
        [
            "job `llama` asks for `nvidia.com/mig-1g.20gb`, and the A100 of `p4d.24xlarge` have no such slices"
        ],
    ),
    "slices that a pod of an open set may find elsewhere": (
        "LIM038",
        batch(container(", nvidia.com/mig-1g.20gb: 1")),
        [],
    ),
    "huge pages of pools whose types nobody says": (
        "EFA019",
        "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: gpu}\nspec: {requirements: "
        "[{key: karpenter.sh/nodepool, operator: In, values: [gpu, more]}], capacity: {hugepages-2Mi: 42242Mi}}\n---\n"
        f"{POOL}metadata: {{name: more}}\nspec: {{template: {{spec: {{requirements: [{{key: {TYPE}, "
        "operator: Exists, values: null}]}}}",
        [],
    ),
    "huge pages of a pool that is elsewhere": (
        "EFA019",
        "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: gpu}\nspec: {requirements: "
        "[{key: karpenter.sh/nodepool, operator: In, values: [others]}], capacity: {hugepages-2Mi: 42242Mi}}",
        [],
    ),
    "a LimitRange for volumes": (
        "LIM014",
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a, namespace: team-a}\n"
        "spec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1Gi, cpu: 1}}]}",
        [],
    ),
    "a LimitRange without limits": (
        "LIM014",
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a, namespace: team-a}\nspec: {}",
        [],
    ),
    "a LimitRange beside a job whose pods are elsewhere": (
        "LIM014",
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: a, namespace: team-a}\n"
        f"spec: {{limits: [{{type: Container, max: {{cpu: 1}}}}]}}\n---\n{JOB}"
        "spec: {runtimeRef: {name: elsewhere}}",
        [],
    ),
    "a pool of Neuron devices without a limit": (
        "LIM009",
        required(TYPE, "trn1.32xlarge")
        + f"\n---\n{POOL}spec: {{limits: {{$patch: replace, cpu: 1000}}}}",
        ["pool `gpu` has no limit in `aws.amazon.com/neuron`: it has `cpu`"],
    ),
    "a quota of what a LimitRange gives no default for": (
        "LIM043",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: memory, namespace: team-a}\n"
        "spec: {hard: {limits.memory: 8Ti}}\n---\n"
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: cpu, namespace: team-a}\n"
        "spec: {limits: [{type: Container, default: {cpu: 1}}]}\n---\n"
        + pods('{spec: {containers: [{name: logs, image: "bit:4.1"}]}}'),
        [
            "container `logs` of job `llama` says no `limits.memory`, and the quota of namespace `team-a` counts it"
        ],
    ),
    "a quota of containers whose resources Flux fills in": (
        "LIM043",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: memory, namespace: team-a}\n"
        "spec: {hard: {limits.memory: 8Ti}}\n---\n"
        + pods(
            '{spec: {containers: [{name: logs, image: "bit:4.1", resources: {limits: "${LIMITS}"}}]}}'
        ),
        [],
    ),
    "an elastic job in a pool without a limit": (
        "LIM035",
        "jobs: [{name: llama, kind: Job, nodes: 16, minNodes: 2, command: [python, shard.py]}]\n"
        "patches: [{target: {kind: NodePool, name: gpu}, patch: [{op: remove, path: /spec/limits}]}]",
        [],
    ),
    "an elastic job that outgrows its quota": (
        "LIM031",
        elastic(8, 32),
        ["job `bert` may grow to 8 workers, and its queue has quota for 4"],
    ),
    "an elastic job in a pool whose limit nobody says": (
        "LIM031",
        elastic(8, 320).replace("{$patch: replace, nodes: 100}", "null"),
        [],
    ),
    "an elastic job that outgrows its pool": (
        "LIM031",
        elastic(8, 320).replace("nodes: 100", "nodes: 6"),
        ["job `bert` may grow to 8 workers, and its nodes have room for 6"],
    ),
    "an elastic job that its quota has room for": ("LIM031", elastic(4, 32), []),
    "an elastic job whose quota Flux fills in": (
        "LIM031",
        elastic(8, 32).replace("32}", "'${GPUS}'}"),
        [],
    ),
    "a node group that nothing scales": (
        "LIM034",
        scaled(release("other")),
        ["node group `small` has no nodes, and job `evaluate` needs one"],
    ),
    "the chart of the cluster autoscaler, by Flux": (
        "LIM034",
        scaled(release("cluster-autoscaler", name="a")),
        [],
    ),
    "the chart of the cluster autoscaler, by Argo CD": (
        "LIM034",
        scaled(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\n"
            "spec: {source: {repoURL: 'https://kubernetes.github.io/autoscaler', chart: cluster-autoscaler}}"
        ),
        [],
    ),
    "a Deployment that the cluster autoscaler may evict": (
        "LIM034",
        scaled(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\nspec: {template: {metadata: "
            "{annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: 'true'}}}}"
        ),
        ["node group `small` has no nodes, and job `evaluate` needs one"],
    ),
}
HELPS = {
    "accelerators on nodes that have none": (
        "LIM001",
        "# a whole cluster\n" + required(TYPE, "m7i.24xlarge"),
        "take a `pool` that has the device",
    ),
    "slices of GPUs that are in none": (
        "LIM038",
        required(TYPE, "g5.12xlarge")
        + "\n---\n"
        + batch(
            "nodeSelector: {karpenter.sh/nodepool: gpu}, " + container(", nvidia.com/mig-1g.5gb: 1")
        ),
        "ask for whole GPUs",
    ),
}


@pytest.mark.parametrize("title", SAID)
def test_it_is_said(title: str) -> None:
    code, text, messages = SAID[title]
    assert said(code, text) == messages


@pytest.mark.parametrize("title", HELPS)
def test_what_helps(title: str) -> None:
    code, text, help = HELPS[title]
    assert [each.help for each in found(code, text)] == [help]
