"""One fault across two objects of third-party manifests gives its one finding, at its place; the set without it none.

The set is the six kinds that people keep beside each other. The runtime is elsewhere, so what stands in it is unknown.
"""

from __future__ import annotations

import pytest
from trainyard.language.diagnostics import Severity

from tests.policy.harness import findings_for

NO_RUNTIME = (
    "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, $patch: delete}"
)
JOB = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
POOL = "apiVersion: karpenter.sh/v1\nkind: NodePool\n"
QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\n"
CLASS = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"
LABELLED = f"{POOL}spec: {{template: {{metadata: {{labels: {{team: a}}}}}}}}"

FAULTS = {
    "EFA not covered by the queue": (
        f"{JOB}spec: {{trainer: {{resourcesPerNode: {{limits: {{example.com/nic: 1}}}}}}}}",
        "QUE001",
        "@ClusterQueue",
    ),
    "a label that no pool sets": (
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, team: b}}}}\n---\n{LABELLED}",
        "QUE002",
        "@ResourceFlavor",
    ),
    "a pool that does not exist": (
        f"{FLAVOR}spec: {{nodeLabels: {{karpenter.sh/nodepool: gpus}}}}",
        "QUE002",
        "@ResourceFlavor",
    ),
    "a type that no pool has": (
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, node.kubernetes.io/instance-type: p5.48xlarge}}}}",
        "QUE002",
        "@ResourceFlavor",
    ),
    "a gang over the pool's limit": (
        f"{JOB}spec: {{trainer: {{numNodes: 5}}}}",
        "LIM003",
        "@TrainJob",
    ),
    "a gang over the quota": (
        f"{QUEUE}spec: {{resourceGroups: [{{flavors: [{{name: gpu, resources: ["
        "{name: nvidia.com/gpu, nominalQuota: 24}]}]}]}",
        "QUE005",
        "@TrainJob",
    ),
    "a quota over the pool": (
        f"{POOL}spec: {{limits: {{nvidia.com/gpu: 24}}}}\n---\n{JOB}spec: {{trainer: {{numNodes: 3}}}}",
        "QUE004",
        "@ClusterQueue",
    ),
    "a reservation that the pool cannot use": (
        f"{CLASS}spec: {{capacityReservationSelectorTerms: [{{id: cr-0a1b2c3d4e5f60718}}]}}",
        "PLC010",
        "@EC2NodeClass",
    ),
    "reserved capacity without reservation": (
        f"{POOL}spec: {{template: {{spec: {{requirements: ["
        "{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]}}}",
        "PLC009",
        "@NodePool",
    ),
    "more EFA than the type": (
        f"{JOB}spec: {{trainer: {{resourcesPerNode: {{requests: {{vpc.amazonaws.com/efa: 8}}, "
        "limits: {vpc.amazonaws.com/efa: 8}}}}",
        "EFA002",
        "@TrainJob",
    ),
    "more memory than the type": (
        f"{JOB}spec: {{trainer: {{resourcesPerNode: {{requests: {{memory: 1150Gi}}, limits: {{memory: 1150Gi}}}}}}}}",
        "LIM002",
        "@TrainJob",
    ),
    "a namespace that the queue does not select": (
        f"{QUEUE}spec: {{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: team-b}}}}}}",
        "QUE008",
        "@ClusterQueue",
    ),
    "two zones": (
        f"{POOL}spec: {{template: {{spec: {{requirements: ["
        "{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a, us-west-2b]}]}}}",
        "PLC003",
        "@NodePool",
    ),
    "interfaces of another type": (
        f"{CLASS}spec: {{networkInterfaces: ["
        "{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface},"
        "{networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only},"
        "{networkCardIndex: 1, deviceIndex: 0, interfaceType: efa-only},"
        "{networkCardIndex: 2, deviceIndex: 0, interfaceType: efa-only},"
        "{networkCardIndex: 4, deviceIndex: 0, interfaceType: efa-only}]}",
        "EFA006",
        "@EC2NodeClass",
    ),
    "suspend under a queue": (f"{JOB}spec: {{suspend: true}}", "RUN001", "@TrainJob"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("runtime", [True, False], ids=["with runtime", "without"])
def test_one_fault_is_one_finding(name: str, runtime: bool) -> None:
    text, code, place = FAULTS[name]
    found = findings_for(text if runtime else f"{text}\n---\n{NO_RUNTIME}")
    assert [(each.code, str((each.at or ("",))[0]).partition("/")[0]) for each in found] == [
        (code, place)
    ], found


@pytest.mark.parametrize(
    "text",
    [
        NO_RUNTIME,
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, team: a}}}}\n---\n{LABELLED}",
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, node.kubernetes.io/instance-type: p4d.24xlarge}}}}",
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}}}}",
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, eks.amazonaws.com/nodegroup: gpu}}}}\n---\n{NO_RUNTIME}",
        f"{FLAVOR}spec: {{nodeLabels: {{$patch: replace, topology.kubernetes.io/zone: us-west-2b}}}}",
        f"{QUEUE}spec: {{namespaceSelector: {{matchExpressions: [{{key: team, operator: Exists}}]}}}}",
        f"{QUEUE}spec: {{cohortName: all}}",
        f"{QUEUE}spec: {{cohortName: all}}\n---\n{JOB}spec: {{trainer: {{numNodes: 4}}}}",
        f"{JOB}spec: {{runtimeRef: {{name: elsewhere}}}}",
        f"{JOB}metadata: {{labels: {{kueue.x-k8s.io/queue-name: elsewhere}}}}",
        f"{POOL}spec: {{template: {{spec: {{nodeClassRef: {{name: elsewhere}}}}}}}}",
    ],
)
def test_right_or_unknown_is_silent(text: str) -> None:
    assert findings_for(text) == []


def test_no_efa_on_purpose_is_a_warning() -> None:
    text = (
        f"{JOB}spec: {{trainer: {{resourcesPerNode: {{requests: {{vpc.amazonaws.com/efa: 0}}, "
        "limits: {vpc.amazonaws.com/efa: 0}}}}"
    )
    assert [(each.code, each.severity) for each in findings_for(text)] == [
        ("EFA001", Severity.WARNING)
    ]
