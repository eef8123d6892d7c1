"""What rules about capacity, placement and queues say, and where they say nothing, beside the examples of
their pages."""

from __future__ import annotations

import pytest

from tests.policy.manifests import POOL, asking, batch, container, pods, required
from tests.policy.saying import found, said

pytestmark = pytest.mark.needs("lint")

CLASS = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"
FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\n"
RUNTIME = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\n"
QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
TYPE, ZONE = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
OF_BLOCK = (
    "{key: karpenter.k8s.aws/capacity-reservation-type, operator: In, values: [capacity-block]}"
)
DAY = 'starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"'
SECOND = 'queue: research, pool: gpu, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py]'
NO_ZONE = f"{POOL}spec: {{template: {{spec: {{requirements: [{{key: {ZONE}, operator: Exists, values: null}}]}}}}}}"


SPARE = f"""{FLAVOR}metadata: {{name: spare}}
spec: {{nodeLabels: {{example.com/pool: spare}}}}
---
{QUEUE}metadata: {{name: research}}
spec: {{resourceGroups: [{{flavors: [{{name: gpu}}, {{name: spare, resources: [
  {{name: cpu, nominalQuota: 360}}, {{name: memory, nominalQuota: 4000Gi}}, {{name: nvidia.com/gpu, nominalQuota: 32}},
  {{name: vpc.amazonaws.com/efa, nominalQuota: 16}}, {{name: hugepages-2Mi, nominalQuota: 20Gi}}]}}]}}]}}"""
"""A flavor whose nodes are elsewhere, and its quotas."""
SPARE_POOL = (
    f"{POOL}metadata: {{name: spare}}\n"
    "spec: {template: {metadata: {labels: {example.com/pool: spare}}}}"
)
LARGE = f"{POOL}spec: {{limits: {{nvidia.com/gpu: 400}}}}"


def block(jobs: str, nodes: int = 4) -> str:
    """Jobs on a pool of one Capacity Block."""
    reservations = "reservations: [{id: cr-0a1b2c3d4e5f60718}]"
    return f"nodePools: [{{name: gpu, nodes: {nodes}, capacity: {{block: {{{reservations}, {DAY}}}}}}}]\njobs: {jobs}"


def blocks(*nodes: int) -> str:
    """A pool of several Capacity Blocks of so many nodes, with its queue."""
    listed = ", ".join(
        f"{{id: cr-0a1b2c3d4e5f6071{number}, nodes: {count}}}" for number, count in enumerate(nodes)
    )
    return (
        f"nodePools: [{{name: gpu, nodes: {sum(nodes)}, capacity: {{block: {{reservations: [{listed}]}}}}}}]\n"
        f"queues: [{{name: research, quota: [{{pool: gpu, nodes: {sum(nodes)}}}]}}]\n"
    )


OF_TWO_TYPES = (
    "{key: rack, operator: In, values: [r2]}, "
    f"{{key: {TYPE}, operator: In, values: [p4d.24xlarge, trn1.32xlarge]}}"
)


def racks(more: str = "") -> str:
    """Two pools of three nodes, each in a rack, and a job of four. ``more``: what the second requires instead."""
    requirement = more or "{key: rack, operator: In, values: [r2]}"
    pools = [
        f"{POOL}metadata: {{name: {name}}}\nspec: {{limits: {{$patch: replace, nvidia.com/gpu: {gpus}}}, "
        f"template: {{spec: {{requirements: [{rack}]}}}}}}"
        for name, gpus, rack in (
            ("gpu", 24, "{key: rack, operator: In, values: [r1]}"),
            ("more", 25, requirement),
        )
    ]
    flavor = f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, {TYPE}: p4d.24xlarge}}, topologyName: racks}}"
    topology = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: racks}\n"
        "spec: {levels: [{nodeLabel: rack}]}"
    )
    return "\n---\n".join([*pools, flavor, topology, pods("{spec: {nodeSelector: null}}")])


def sized(*nodes: int) -> str:
    """Jobs of so many nodes, of which the first is `llama`."""
    first, *others = nodes
    rest = [
        f"{{name: job{number}, nodes: {count}, {SECOND}}}" for number, count in enumerate(others)
    ]
    return f"jobs: [{', '.join([f'{{name: llama, nodes: {first}}}', *rest])}]"


def to_pods(selector: str) -> str:
    """The affinity of pods of two types of nodes to those of a selector, on one node."""
    types = (
        f"{{matchExpressions: [{{key: {TYPE}, operator: In, values: [g5.2xlarge, g5.12xlarge]}}]}}"
    )
    return (
        f"affinity: {{nodeAffinity: {{{REQUIRED}: {{nodeSelectorTerms: [{types}]}}}}, "
        f"podAffinity: {{{REQUIRED}: [{{labelSelector: {selector}, topologyKey: kubernetes.io/hostname}}]}}}}, "
    )


def mine(selector: str = "{matchLabels: {app: a}}") -> str:
    """The affinity of pods to those of a selector."""
    term = f"{{labelSelector: {selector}, topologyKey: kubernetes.io/hostname}}"
    return f"affinity: {{podAffinity: {{{REQUIRED}: [{term}]}}}}, "


def master(selector: str, keys: str = "") -> str:
    """A PyTorchJob whose workers must be on the node of pods of a selector."""
    return f"""apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: bert, namespace: team-b}}
spec:
  nprocPerNode: "1"
  runPolicy: {{cleanPodPolicy: None}}
  pytorchReplicaSpecs:
    Master: {{replicas: 1, template: {{spec: {{nodeSelector: {{{TYPE}: g5.2xlarge}},
      {container(", nvidia.com/gpu: 1")}}}}}}}
    Worker: {{replicas: 3, template: {{spec: {{{to_pods(selector)}{container(", nvidia.com/gpu: 1")}}}}}}}"""


ONE_GPU = asking(
    **{"cpu": "8", "memory": "30Gi", "nvidia.com/gpu": "1", "vpc.amazonaws.com/efa": "1"}
)


def initializer(*changes: str) -> str:
    """A runtime whose pods of an initializer tolerate nothing, with other changes."""
    pod = '{containers: [{name: dataset-initializer, image: "a:1", resources: {requests: {cpu: 1, memory: 1Gi}}}]}'
    step = "{labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}"
    job = f"{{name: dataset-initializer, template: {{metadata: {step}, spec: {{template: {{spec: {pod}}}}}}}}}"
    runtime = f"{RUNTIME}spec: {{template: {{spec: {{replicatedJobs: [{{name: node}}, {job}]}}}}}}"
    return "\n---\n".join([runtime, *changes])


OF_TEAM = f"""apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: train, namespace: hyperpod-ns-research,
  labels: {{kueue.x-k8s.io/queue-name: hyperpod-ns-research-localqueue}}}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 3
      template: {{spec: {{nodeSelector: {{sagemaker.amazonaws.com/node-health-status: Schedulable}},
        {container(", nvidia.com/gpu: 8")}}}}}"""


def hyperpod(quotas: str, groups: str = "4") -> str:
    """A cluster of HyperPod, and compute quotas of its teams."""
    documents = [
        f"""ClusterArn: arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12
Name: {team}
ComputeQuotaTarget: {{TeamName: {team}}}
ComputeQuotaConfig: {{ComputeQuotaResources: [{{InstanceType: ml.p4d.24xlarge, Count: {count}}}]}}"""
        for team, count in (quota.split(":") for quota in quotas.split())
    ]
    if groups:
        documents.append(
            "ClusterName: lab\nInstanceGroups: [{InstanceGroupName: a100, InstanceType: ml.p4d.24xlarge, "
            f'InstanceCount: {groups}, ExecutionRole: "arn:aws:iam::111122223333:role/nodes"}}]'
        )
    return "\n---\n".join(documents)


SAID: dict[str, tuple[str, str, list[str]]] = {
    "a job that would run longer than its block, were it alone": (
        "PLC083",
        block(
            f"[{{name: llama, nodes: 3, expected: 30h}}, {{name: second, nodes: 2, expected: 60h, {SECOND}}}]"
        ),
        [],
    ),
    "two jobs on all nodes of a reservation": (
        "PLC035",
        "nodePools: [{name: gpu, nodes: 4, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]\n"
        + sized(2, 2),
        ["jobs `llama`, `job0` take 4 of 4 nodes of `gpu`"],
    ),
    "two blocks that are smaller than their pool": (
        "PLC016",
        "# params: {instances: 1}\n"
        + required("karpenter.sh/capacity-type", "reserved").replace(
            "values: [reserved]}", f"values: [reserved]}}, {OF_BLOCK}"
        )
        + f"\n---\n{CLASS}spec: {{capacityReservationSelectorTerms: "
        "[{id: cr-0a1b2c3d4e5f60718}, {id: cr-0a1b2c3d4e5f60719}]}",
        ["pool `gpu` may have 4 nodes, and 2 Capacity Blocks have at most 2"],
    ),
    "nodes without a label that are only preferred": (
        "PLC058",
        batch(
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
            "{matchExpressions: [{key: kubernetes.io/hostname, operator: DoesNotExist}]}}]}}, "
            + container("")
        ),
        [],
    ),
    "pods with the same labels in another namespace": (
        "PLC059",
        batch(mine() + container(""))
        + "\n---\n"
        + batch(container(""), name="b", namespace="team-c"),
        [],
    ),
    "pods of another job with some more than labels": (
        "PLC059",
        batch(
            mine("{matchLabels: {app: a}, matchExpressions: [{key: b, operator: Exists}]}")
            + container("")
        )
        + "\n---\n"
        + batch(container(""), name="b"),
        [],
    ),
    "pods of another job with one of two labels": (
        "PLC059",
        batch(
            mine("{matchExpressions: [{key: app, operator: In, values: [a, b]}]}") + container("")
        )
        + "\n---\n"
        + batch(container(""), name="b"),
        [],
    ),
    "pods of another job with the same labels, by an expression": (
        "PLC059",
        batch(mine("{matchExpressions: [{key: app, operator: In, values: [a]}]}") + container(""))
        + "\n---\n"
        + batch(container(""), name="b"),
        ["job `evaluate` must be near pods that job `b` has too"],
    ),
    "pods of another job with other labels": (
        "PLC059",
        batch(mine() + container("")) + "\n---\n" + batch(container(""), name="b", labels="app: b"),
        [],
    ),
    "pods of another job with the same labels": (
        "PLC059",
        batch(mine() + container("")) + "\n---\n" + batch(container(""), name="b"),
        ["job `evaluate` must be near pods that job `b` has too"],
    ),
    "subnets that the file does not say": (
        "PLC004",
        f"{NO_ZONE}\n---\n{CLASS}spec: {{subnetSelectorTerms: null}}",
        [],
    ),
    "one subnet, which is in one zone": (
        "PLC004",
        f"{NO_ZONE}\n---\n{CLASS}spec: {{subnetSelectorTerms: [{{$patch: replace, id: subnet-0a1b2c3d4e5f60718}}]}}",
        [],
    ),
    "pods beside those of another workload, which may be on every node": (
        "PLC057",
        batch(
            to_pods("{matchLabels: {app: cache}}") + container(", nvidia.com/gpu: 1"),
            "parallelism: 4, completions: 4, ",
        ),
        [],
    ),
    "pods of one Job beside each other": (
        "PLC057",
        batch(
            to_pods("{matchLabels: {job-name: evaluate}}") + container(", nvidia.com/gpu: 1"),
            "parallelism: 4, completions: 4, ",
        ),
        ["pods of job `evaluate` ask for 4 GPUs on one node, and `g5.2xlarge` has 1"],
    ),
    "pods of one Job beside each other that ask for no GPU": (
        "PLC057",
        batch(
            to_pods("{matchLabels: {job-name: evaluate}}") + container(""),
            "parallelism: 4, completions: 4, ",
        ),
        [],
    ),
    "the one pod of a Job beside itself": (
        "PLC057",
        batch(
            to_pods("{matchLabels: {job-name: evaluate}}") + container(", nvidia.com/gpu: 1"), ""
        ),
        [],
    ),
    "pods beside any others": (
        "PLC057",
        batch(to_pods("{}") + container(", nvidia.com/gpu: 1"), "parallelism: 4, completions: 4, "),
        [],
    ),
    "workers beside their master": (
        "PLC057",
        master("{matchLabels: {training.kubeflow.org/job-role: master}}"),
        ["pods of job `bert` ask for 4 GPUs on one node, and `g5.2xlarge` has 1"],
    ),
    "workers beside a worker that is called a master": (
        "PLC057",
        master("{matchLabels: {training.kubeflow.org/job-role: worker}}"),
        [],
    ),
    "workers beside pods of others": ("PLC057", master("{matchLabels: {app: cache}}"), []),
    "quotas of several teams": (
        "QUE032",
        hyperpod("research:3 vision:2"),
        [
            "with team `vision` the compute quotas have 5 nodes of `ml.p4d.24xlarge`, and the cluster has 4"
        ],
    ),
    "quotas of a cluster that is elsewhere": ("QUE032", hyperpod("research:3 vision:2", ""), []),
    "a job of a team, on nodes that are elsewhere": (
        "QUE031",
        hyperpod("research:2", "") + "\n---\n" + OF_TEAM,
        [],
    ),
    "a job of a team that is larger than its quota": (
        "QUE031",
        hyperpod("research:2") + "\n---\n" + OF_TEAM,
        ["job `train` asks for 3 nodes, and team `research` gets 2 at most"],
    ),
    "a flavor of a zone that no pool is in": (
        "QUE002",
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, {ZONE}: us-west-2c}}}}",
        [f"flavor `gpu` selects `{ZONE}: us-west-2c`, which no pool has"],
    ),
    "a flavor of another zone than a pool whose type its zone does not have": (
        "QUE002",
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, {ZONE}: us-west-2c}}}}\n---\n"
        + required(TYPE, "p5e.48xlarge")
        + "\n---\n"
        + required(ZONE, "us-west-2a"),
        [f"flavor `gpu` selects `{ZONE}: us-west-2c`, which no pool has"],
    ),
    "a flavor of a zone that does not have the type of its pool": (
        "QUE002",
        f"{FLAVOR}spec: {{nodeLabels: {{{ZONE}: us-west-2d}}}}\n---\n"
        + required(TYPE, "p5e.48xlarge")
        + "\n---\n"
        + required(ZONE, "us-west-2a"),
        [],
    ),
    "jobs that fit into two blocks in no way": (
        "QUE022",
        blocks(3, 3) + sized(2, 2, 2),
        [
            "jobs `llama` (2), `job0` (2) and `job1` (2) have no placement in blocks of 3 and 3 nodes: one spans two"
        ],
    ),
    "a job that is larger than a rack": (
        "QUE022",
        racks(),
        ["job `llama` has 4 nodes, and the largest block 3"],
    ),
    "a job beside a rack whose size nobody says": (
        "QUE022",
        racks(OF_TWO_TYPES).replace("nvidia.com/gpu: 25", "aws.amazon.com/neuron: 16"),
        [],
    ),
    "a job beside nodes of two racks": (
        "QUE022",
        racks("{key: rack, operator: In, values: [r2, r3]}"),
        [],
    ),
    "a job of a queue without flavors, beside racks": (
        "QUE022",
        racks() + f"\n---\n{QUEUE}spec: {{resourceGroups: null}}",
        [],
    ),
    "more ways into blocks than are tried": (
        "QUE022",
        blocks(60, 60, 60) + sized(50, 20, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1),
        [],
    ),
    "jobs that fit into two blocks in every order": ("QUE022", blocks(4, 4) + sized(2, 2, 2), []),
    "a pool of types with different numbers of GPUs": (
        "QUE023",
        "# a whole cluster\n" + required(TYPE, "p4d.24xlarge", "g5.12xlarge") + f"\n---\n{LARGE}",
        [],
    ),
    "a pool of one type with more nodes than its quotas": (
        "QUE023",
        "# a whole cluster\n" + LARGE,
        ["pool `gpu` may have 50 nodes, and all quotas together are of 4"],
    ),
    "resources that Kueue ignores where a queue does not cover them": (
        "QUE001",
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        "resources: {quotaCheckStrategy: IgnoreUndeclared}\n---\n"
        f"{QUEUE}spec: {{resourceGroups: [{{coveredResources: [cpu, memory, nvidia.com/gpu]}}]}}",
        [],
    ),
    "a taint by the name of no device": (
        "QUE003",
        f"{POOL}spec: {{template: {{spec: {{taints: [{{$patch: replace, key: nvidia.com/gpus, "
        "effect: NoSchedule}]}}}",
        [],
    ),
    "a long job that no block holds, beside one whose length nobody knows": (
        "PLC083",
        block(
            f"[{{name: llama, nodes: 3, expected: 30h}}, {{name: second, nodes: 2, expected: 20h, {SECOND}}}, "
            f"{{name: third, nodes: 1, {SECOND}}}]"
        ),
        [],
    ),
    "a job after a long one, beside one whose length nobody knows": (
        "PLC084",
        block(
            f"[{{name: llama, nodes: 3, expected: 47h20m}}, {{name: second, nodes: 2, expected: 20h, {SECOND}}}, "
            f"{{name: third, nodes: 1, {SECOND}}}]"
        ),
        [],
    ),
    "a type of nodes that Flux fills in": (
        "PLC080",
        required(TYPE, "m7i.8xlarge", "m6i.8xlarge")
        + "\n---\n"
        + pods(f"{{spec: {{nodeSelector: {{{TYPE}: '${{TYPE}}'}}}}}}")
        + "\n---\n"
        + asking(
            **{
                "cpu": "20",
                "memory": "60Gi",
                "nvidia.com/gpu": "null",
                "vpc.amazonaws.com/efa": "null",
                "hugepages-2Mi": "null",
            }
        ),
        [],
    ),
    "a quota for EFA of nodes that have none, of a job that other nodes have room for": (
        "QUE004",
        "\n---\n".join(
            [
                SPARE_POOL,
                required(TYPE, "g5.4xlarge"),
                SPARE,
                pods("{spec: {nodeSelector: null}}"),
                ONE_GPU,
            ]
        ),
        [
            "queue `research` promises 16 of `vpc.amazonaws.com/efa` in flavor `gpu`, and its pools have at most 0"
        ],
    ),
    "a quota for EFA of nodes that have none, of a job that EFA002 reports": (
        "QUE004",
        required(TYPE, "g5.4xlarge") + "\n---\n" + ONE_GPU,
        [],
    ),
    "an initializer that does not tolerate the taint of the only flavor": (
        "QUE003",
        initializer(),
        [
            "`dataset-initializer` of job `llama` does not tolerate `nvidia.com/gpu=present:NoSchedule` of pool `gpu`"
        ],
    ),
    "an initializer that may get a flavor of nodes that are elsewhere": (
        "QUE003",
        initializer(SPARE),
        [],
    ),
    "an initializer of a queue without flavors": (
        "QUE003",
        initializer(f"{QUEUE}spec: {{resourceGroups: null}}"),
        [],
    ),
    "an initializer that gets a flavor without labels": (
        "QUE003",
        initializer(f"{FLAVOR}spec: {{nodeLabels: null}}"),
        [],
    ),
    "a topology of a queue that covers nothing of the job": (
        "QUE020",
        f"{QUEUE}spec: {{resourceGroups: null}}\n---\n"
        + pods("{metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}}"),
        [],
    ),
    "a topology of a flavor that has none": (
        "QUE020",
        pods("{metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}}"),
        ["job `llama` asks for topology `rack`, and no flavor of queue `research` has that level"],
    ),
}
HELPS = {
    "a type that is not in the Region of its zone": (
        "PLC014",
        required(TYPE, "trn2.48xlarge"),
        "it is offered in ap-south-2, us-east-2",
    )
}


@pytest.mark.parametrize("title", SAID)
def test_it_is_said(title: str) -> None:
    code, text, messages = SAID[title]
    assert said(code, text) == messages


def test_a_job_that_affinity_pins_is_reported_there() -> None:
    terms = "{nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/nodepool, operator: In, values: [gpu]}]}]}"
    affinity = f"affinity: {{nodeAffinity: {{{REQUIRED}: {terms}}}}}"
    pod = pods(f"{{spec: {{nodeSelector: {{karpenter.sh/nodepool: null}}, {affinity}}}}}")
    (only,) = found("PLC064", "\n---\n".join([SPARE, SPARE_POOL, pod]))
    assert only.message.startswith("job `llama` is pinned by `karpenter.sh/nodepool`")
    assert str(only.at).endswith("template.spec.affinity")


@pytest.mark.parametrize("title", HELPS)
def test_what_helps(title: str) -> None:
    code, text, help = HELPS[title]
    assert [each.help for each in found(code, text)] == [help]
