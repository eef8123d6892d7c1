"""Valid third-party manifests: laid over the set without fault, they give no finding."""

from __future__ import annotations

import json

import pytest
from trainyard.catalog import load_catalog
from trainyard.judge.policy.engine import run

from tests.policy.harness import builtin_rules, findings_for, lifted
from tests.policy.manifests import JOB, POOL, asking, pods, release, required

FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\n"
RUNTIME = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\n"
QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
CLASS = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"


def env(**variables: str) -> str:
    """A job with environment variables."""
    listed = ", ".join(f"{{name: {name}, value: '{value}'}}" for name, value in variables.items())
    return f"{JOB}spec: {{trainer: {{env: [{listed}]}}}}"


def quota(resource: str, amount: str) -> str:
    """A queue with another quota."""
    return (
        f"{QUEUE}metadata: {{name: research}}\nspec: {{resourceGroups: [{{flavors: [{{name: gpu, resources: "
        f"[{{name: {resource}, nominalQuota: {amount}}}]}}]}}]}}"
    )


LATER = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: {}, namespace: a}}
spec: {{chart: {{spec: {{chart: {}, version: 1.2.3}}}}, valuesFrom: [{{kind: ConfigMap, name: values}}]}}"""
STAGE = """apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: a, namespace: flux-system}}
spec: {{interval: 10m, prune: true, path: ./{}, sourceRef: {{kind: GitRepository, name: a}}, {}}}"""
GROUP = """apiVersion: karpenter.sh/v1
kind: NodePool
$patch: delete
---
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a, region: us-west-2, version: "1.35"}
autoModeConfig: {enabled: false}
managedNodeGroups:
  - {name: gpu, instanceType: p4d.24xlarge, efaEnabled: true, availabilityZones: [us-west-2b], maxSize: 4,
     labels: {pool: gpu}, nodeRepairConfig: {enabled: true}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
spec: {nodeLabels: {$patch: replace, pool: gpu}}
"""
TYPE, ZONE = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"
SETS = {
    "several types, of which the job takes one": [
        required(TYPE, "p4d.24xlarge", "p5.48xlarge"),
        pods(f"{{spec: {{nodeSelector: {{{TYPE}: p4d.24xlarge}}}}}}"),
    ],
    "several types, of which the flavor takes one": [
        required(TYPE, "p4d.24xlarge", "p5.48xlarge"),
        f"{FLAVOR}spec: {{nodeLabels: {{{TYPE}: p4d.24xlarge}}}}",
    ],
    "Karpenter's memory overhead on a node group": [
        GROUP,
        pods("{spec: {nodeSelector: {$patch: replace, pool: gpu}}}"),
        asking(memory="1090Gi"),
        quota("memory", "5000Gi"),
    ],
    "another memory overhead": [
        release("karpenter", "{settings: {vmMemoryOverheadPercent: 0.02}}"),
        asking(memory="1090Gi"),
        quota("memory", "5000Gi"),
    ],
    "huge pages by user data": [
        f"{CLASS}spec: {{userData: 'sysctl -w vm.nr_hugepages=20000'}}",
        asking(**{"hugepages-2Mi": "20Gi"}),
        quota("hugepages-2Mi", "100Gi"),
    ],
    "a taint and toleration with a key of one's own": [
        f"{POOL}spec: {{template: {{spec: {{taints: [{{key: gpu, value: 'true', effect: NoSchedule}}]}}}}}}",
        pods("{spec: {tolerations: [{key: gpu, operator: Exists}]}}"),
    ],
    "EFA by a resource claim": [
        f"{JOB}spec: {{trainer: {{resourcesPerNode: {{claims: [{{name: efa}}]}}}}}}",
        asking(**{"vpc.amazonaws.com/efa": "null", "hugepages-2Mi": "null"}),
    ],
    "a provider that Flux fills in": [env(FI_PROVIDER="${PROVIDER}", NCCL_NET="${NET}")],
    "threads for sockets, without EFA": [
        env(NCCL_SOCKET_NTHREADS="4"),
        f"{JOB}spec: {{trainer: {{numNodes: 1}}}}",
        asking(**{"vpc.amazonaws.com/efa": "null"}),
    ],
    "all devices by name": [env(CUDA_VISIBLE_DEVICES="0,1,2,3,4,5,6,7")],
    "EFA by plugin on some nodes and by driver on others": [
        release(
            "aws-efa-k8s-device-plugin",
            "{nodeSelector: {pool: a}, tolerations: [{operator: Exists}]}",
        ),
        release("aws-dranet", "{nodeSelector: {pool: b}}"),
    ],
    "tolerations in a ConfigMap": [
        LATER.format("efa", "aws-efa-k8s-device-plugin"),
        LATER.format("agent", "eks-node-monitoring-agent"),
        LATER.format("nvdp", "nvidia-device-plugin"),
        LATER.format("karpenter", "karpenter"),
        LATER.format("trainer", "kubeflow-trainer"),
        release("jobset"),
        f"{POOL}metadata: {{name: other}}\nspec: {{template: {{spec: {{requirements: ["
        "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}}",
    ],
    "two device plugins for different nodes": [
        release("nvidia-device-plugin", "{nodeSelector: {mig: 'true'}}", "mig"),
        release("nvidia-device-plugin", "{nodeSelector: {mig: 'false'}}", "whole"),
    ],
    "nodes that expire when somebody says so": [
        f"{POOL}spec: {{template: {{spec: {{expireAfter: '${{EXPIRE}}'}}}}}}"
    ],
    "budgets that hold the nodes": [
        f"{POOL}spec: {{disruption: {{budgets: [{{nodes: '0'}}]}}}}",
        pods("{metadata: {annotations: {karpenter.sh/do-not-disrupt: null}}}"),
    ],
    "the host's shared memory": [
        pods(
            "{spec: {hostIPC: true, containers: [{name: node, volumeMounts: [{name: dshm, mountPath: /scratch}]}]}}"
        )
    ],
    "a reservation that bounds its pool": [
        required("karpenter.sh/capacity-type", "reserved"),
        f"{POOL}spec: {{limits: null}}",
        f"{CLASS}spec: {{capacityReservationSelectorTerms: [{{id: cr-0a1b2c3d4e5f60718}}]}}",
    ],
    "a quota for pods of a priority": [
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: low, namespace: team-a}, spec: {hard: "
        "{requests.nvidia.com/gpu: 8}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, "
        "values: [low]}]}}}"
    ],
    "parts of a device": [
        f"{JOB}spec: {{trainer: {{numNodes: 1}}}}",
        quota("nvidia.com/mig-1g.5gb", "8").replace(
            "resourceGroups: [{",
            "resourceGroups: [{coveredResources: [cpu, memory, nvidia.com/gpu, "
            "vpc.amazonaws.com/efa, hugepages-2Mi, nvidia.com/mig-1g.5gb], ",
        ),
        asking(
            **{
                "nvidia.com/gpu": "null",
                "vpc.amazonaws.com/efa": "null",
                "nvidia.com/mig-1g.5gb": "1",
            }
        ),
    ],
    "a pool of several zones, of which the flavor takes one": [
        required(ZONE, "us-west-2a", "us-west-2b"),
        f"{FLAVOR}spec: {{nodeLabels: {{{ZONE}: us-west-2b}}}}",
    ],
    "a pool of several zones, and pods that want to be together": [
        required(ZONE, "us-west-2a", "us-west-2b"),
        pods(
            "{spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: ["
            f"{{topologyKey: {ZONE}, labelSelector: {{matchLabels: {{job: a}}}}}}]}}}}}}}}"
        ),
    ],
    "a block that lies in a zone by itself": [
        f"{POOL}spec: {{template: {{spec: {{requirements: [{{key: {ZONE}, operator: Exists, values: null}}, "
        "{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]}}}",
        f"{CLASS}spec: {{capacityReservationSelectorTerms: [{{id: cr-0a1b2c3d4e5f60718}}]}}",
    ],
    "a placement group that lies in a zone by itself": [
        f"{POOL}spec: {{template: {{spec: {{requirements: [{{key: {ZONE}, operator: Exists, values: null}}]}}}}}}",
        f"{CLASS}spec: {{placementGroupSelector: {{name: close}}}}",
    ],
    "spot beside on demand, of which the flavor takes one": [
        required("karpenter.sh/capacity-type", "spot", "on-demand"),
        f"{FLAVOR}spec: {{nodeLabels: {{karpenter.sh/capacity-type: on-demand}}}}",
    ],
    "nodes that affinity selects": [
        required(TYPE, "p4d.24xlarge", "p5.48xlarge"),
        pods(
            "{spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
            f"{{matchExpressions: [{{key: {TYPE}, operator: In, values: [p4d.24xlarge]}}]}}]}}}}}}}}}}"
        ),
    ],
    "fair sharing that is off": [
        f"{QUEUE}spec: {{preemption: {{reclaimWithinCohort: Any, borrowWithinCohort: {{policy: LowerPriority}}}}}}",
        "{apiVersion: config.kueue.x-k8s.io/v1beta1, kind: Configuration, waitForPodsReady: {timeout: 30m}, "
        "fairSharing: {enable: false}}",
    ],
    "a resource that is counted as another": [
        "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, waitForPodsReady: {timeout: 30m}, resources: "
        "{transformations: [{input: example.com/nic, strategy: Replace, outputs: {cpu: 1}}]}}",
        asking(**{"example.com/nic": "1"}),
    ],
    "pods that restart in place": [
        f"{RUNTIME}spec: {{template: {{spec: {{failurePolicy: {{restartStrategy: InPlaceRestart}}, replicatedJobs: ["
        "{name: node, template: {spec: {backoffLimit: 2147483647}}}]}}}"
    ],
    "an endpoint in a ConfigMap": [
        f"{JOB}spec: {{trainer: {{command: [torchrun, --rdzv_backend=c10d, train.py], env: [{{name: PET_RDZV_ENDPOINT, "
        "valueFrom: {configMapKeyRef: {name: a, key: b}}}]}}"
    ],
    "images by a template": [f"{JOB}spec: {{trainer: {{image: $(IMAGE)}}}}"],
    "names that Flux may know": [
        STAGE.format("jobs", "postBuild: {substituteFrom: [{kind: ConfigMap, name: cluster}]}"),
        f"{JOB}metadata: {{annotations: {{kustomize.toolkit.fluxcd.io/prune: disabled}}}}\n"
        "spec: {trainer: {command: [bash, -c, 'torchrun train.py --bucket=${BUCKET}']}}",
        f"{RUNTIME}metadata: {{annotations: {{kustomize.toolkit.fluxcd.io/prune: disabled}}}}",
    ],
    "a chart from the repository": [release("../charts/dcgm").replace("1.2.3", "'*'")],
    "a cohort with quota of its own": [
        f"{QUEUE}metadata: {{name: research}}\nspec: {{cohortName: all}}",
        quota("nvidia.com/gpu", "16"),
        f"{QUEUE}metadata: {{name: idle}}\nspec: {{cohortName: all}}",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: all}\nspec: {resourceGroups: ["
        "{coveredResources: [nvidia.com/gpu], flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, "
        "nominalQuota: 16}]}]}]}",
    ],
    "a cohort whose parent is elsewhere": [
        f"{QUEUE}metadata: {{name: research}}\nspec: {{cohortName: all}}",
        quota("nvidia.com/gpu", "16"),
        f"{QUEUE}metadata: {{name: idle}}\nspec: {{cohortName: all}}",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: all}, spec: {parentName: company}}",
    ],
    "a member of the cohort that is elsewhere": [
        f"{QUEUE}metadata: {{name: research}}\nspec: {{cohortName: all}}",
        quota("nvidia.com/gpu", "16"),
        f"{QUEUE}metadata: {{name: idle}}\nspec: {{cohortName: all}}",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: vision, namespace: b}, "
        "spec: {clusterQueue: vision}}",
    ],
}


@pytest.mark.parametrize("title", SETS)
def test_meant(title: str) -> None:
    found = findings_for("\n---\n".join(SETS[title]))
    assert found == [], [(each.code, each.message) for each in found]


GO = [
    r"error\(?!",
    r"foo (?i)bar",
    r"(?<code>\d+) (?P<name>\w+)",
    r"\p{L}+ \pN \PN",
    r"\Q(?=(\1++\E$",
    r"[(?=] x\z",
    r"\\1",
    r"(?s:a.b)(?i-s)c",
    r"\x{263a}",
    r"[[:alpha:]]+",
    r"\123",
    r"a+? b*? c?? \++",
]
OTHERS = [
    r"(?=a)",
    r"a(?<!b)",
    r"(a)\1",
    r"(?>a)",
    r"a++",
    r"a{2}+",
    r"(a)?(?(1)b)",
    r"(?P<a>b)(?P=a)",
    r"(a",
    "*a",
    "[b-a]",
]
DETECTOR = """# a whole cluster
apiVersion: v1
kind: ConfigMap
metadata: {{name: node-problem-detector, namespace: kube-system}}
data: {{gpu-xid.json: {}}}"""


@pytest.mark.parametrize("pattern", [*GO, *OTHERS])
def test_patterns_of_go(pattern: str) -> None:
    rules = [{"type": "temporary", "reason": "A", "pattern": pattern}]
    monitor = json.dumps({"plugin": "kmsg", "source": "a", "conditions": [], "rules": rules})
    reported = [each.code for each in findings_for(DETECTOR.format(json.dumps(monitor)))]
    assert reported == (["HLT008"] if pattern in OTHERS else [])


@pytest.mark.parametrize(("folder", "reported"), [("infra", 0), ("apps", 1)])
def test_a_stage_prunes_what_it_carries(folder: str, reported: int) -> None:
    plan, manifests = lifted(STAGE.format(folder, ""))
    for each in manifests:
        each.path = "apps/all.yaml"
    rules = [each for each in builtin_rules() if each.code == "RUN015"]
    assert len(run(plan, load_catalog(), rules, manifests=manifests)) == reported


SMALL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: small}
spec:
  limits: {$patch: replace, nvidia.com/gpu: 64}
  template:
    spec:
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g5.2xlarge]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2b]}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: one, namespace: other}
spec: {runtimeRef: {name: elsewhere}, trainer: {image: "a:1", numNodes: 1, resourcesPerNode: {
  requests: {cpu: 80, memory: 800Gi, nvidia.com/gpu: 8}, limits: {cpu: 80, memory: 800Gi, nvidia.com/gpu: 8}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: many, namespace: other}
spec: {runtimeRef: {name: elsewhere}, trainer: {image: "a:1", numNodes: 40, resourcesPerNode: {
  requests: {cpu: 6, memory: 20Gi, nvidia.com/gpu: 1}, limits: {cpu: 6, memory: 20Gi, nvidia.com/gpu: 1}}}}
"""


def test_jobs_of_other_amounts_reach_other_pools() -> None:
    """40 nodes of one GPU have room on the small nodes, which the job of 8 GPUs before them cannot use."""
    assert [each.message for each in findings_for(SMALL) if each.code == "LIM003"] == []
    lower = SMALL.replace("nvidia.com/gpu: 64", "nvidia.com/gpu: 4")
    assert [each.code for each in findings_for(lower) if each.code == "LIM003"] == ["LIM003"]
