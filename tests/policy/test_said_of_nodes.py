"""What rules about EFA, add-ons, monitoring, networks and images of nodes say, and where they say nothing, beside the
examples of their pages."""

from __future__ import annotations

import json

import pytest
from trainyard.catalog.catalog import DATA

from tests.policy.manifests import POOL, release, required
from tests.policy.saying import found, said

pytestmark = pytest.mark.needs("lint")

JOB = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
CLASS = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"
TYPE = "node.kubernetes.io/instance-type"
CPU_POOL = f"""{POOL}metadata: {{name: cpu}}
spec: {{limits: {{$patch: replace, cpu: 1000}}, template: {{spec: {{
  taints: [{{key: team, value: a, effect: NoSchedule}}],
  requirements: [{{key: {TYPE}, operator: In, values: [m7i.8xlarge]}}]}}}}}}"""
"""A pool without accelerators, whose taint nothing tolerates that tolerates the taint of the GPUs alone."""
GPU_ALONE = "{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}"
NO_EFA = f"""{JOB}spec: {{trainer: {{resourcesPerNode: {{
  requests: {{vpc.amazonaws.com/efa: null}}, limits: {{vpc.amazonaws.com/efa: null}}}}}}}}"""
NO_PAGES = NO_EFA.replace("vpc.amazonaws.com/efa", "hugepages-2Mi")
OVERLAY = """apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: gpu}
spec: {requirements: [{key: karpenter.sh/nodepool, operator: In, values: [gpu]}], capacity: {hugepages-2Mi: 10256Mi}}"""
ISOLATED = """apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a, region: us-west-2, version: "1.35"}
privateCluster: {enabled: true}
---
"""
LAYOUT = f"""{CLASS}spec: {{networkInterfaces: [{{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}},
  {{networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only}}]}}"""
RESERVED = f"""{POOL}metadata: {{name: reserved}}
spec: {{template: {{spec: {{requirements: [
  {{key: karpenter.sh/capacity-type, operator: In, values: [CAPACITY]}}]}}}}}}"""


def env(**variables: str) -> str:
    """The job with environment variables."""
    listed = ", ".join(f'{name}: "{value}"' for name, value in variables.items())
    return f"jobs: [{{name: llama, env: {{{listed}}}}}]"


def daemon_set(name: str, pod: str, namespace: str = "monitoring") -> str:
    """A DaemonSet with these pods."""
    return f"""apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{{pod}}}}}"""


def listening(name: str, keys: str = "") -> str:
    """A DaemonSet that listens on a port of its nodes."""
    ports = "ports: [{containerPort: 9400, hostPort: 9400}]"
    return daemon_set(name, f"containers: [{{name: a, image: team/exporter:v1, {ports}}}]{keys}")


def affinity(*values: str) -> str:
    """The keys of pods that run on nodes of these types."""
    term = f"{{matchExpressions: [{{key: {TYPE}, operator: In, values: [{', '.join(values)}]}}]}}"
    required = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}"
    return f", affinity: {{nodeAffinity: {{{required}}}}}"


def alert(expression: str) -> str:
    """An alert over an expression."""
    return f"""apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {{name: pods, namespace: monitoring}}
spec: {{groups: [{{name: pods, rules: [{{alert: Full, expr: '{expression}'}}]}}]}}"""


def monitor(keys: str = "", labels: str = "trainer") -> str:
    """A Service, and a monitor of such with these keys."""
    return f"""apiVersion: v1
kind: Service
metadata: {{name: trainer, namespace: training, labels: {{app: {labels}}}}}
spec: {{selector: {{app: trainer}}, ports: [{{port: 9400}}]}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {{name: trainer, namespace: monitoring}}
spec: {{selector: {{matchLabels: {{app: trainer}}}}, endpoints: [{{port: metrics}}]{keys}}}"""


def parameter(*paths: str) -> str:
    """A node class whose image is that of an SSM parameter."""
    terms = ", ".join(
        "{$patch: replace, ssmParameter: /aws/service/eks/optimized-ami/1.35/amazon-linux-2023/"
        f"{path}/recommended/image_id}}"
        for path in paths
    )
    return f"{CLASS}spec: {{amiFamily: AL2023, amiSelectorTerms: [{terms}]}}"


def subnet(keys: str) -> str:
    """A cluster with a node group in a small subnet."""
    return f"""apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {{name: a, region: us-west-2, version: "1.35"}}
autoModeConfig: {{enabled: false}}
vpc:
  id: vpc-0a1b2c3d4e5f60718
  subnets: {{private: {{us-west-2b: {{id: subnet-0a1b2c3d4e5f60718, cidr: 10.0.1.0/26}}}}}}
managedNodeGroups: [{{name: gpu, availabilityZones: [us-west-2b], nodeRepairConfig: {{enabled: true}}, {keys}}}]"""


def node_group(keys: str) -> str:
    """A template with a node group of GPUs."""
    return f"""Resources:
  Gpu:
    Type: AWS::EKS::Nodegroup
    Properties:
      {{ClusterName: base, NodeRole: "arn:aws:iam::111122223333:role/nodes", Subnets: [subnet-0a1b2c3d4e5f60718],
      InstanceTypes: [p4d.24xlarge], {keys}}}"""


def prometheus(values: str) -> str:
    """A release of Prometheus with these values."""
    return release("kube-prometheus-stack", f"{{prometheus: {{prometheusSpec: {values}}}}}")


def kept(size: str, storage: str) -> str:
    """A release of Prometheus that keeps so much on such a volume."""
    return prometheus(
        f"{{retentionSize: {size}, storageSpec: {{volumeClaimTemplate: {{spec: {{resources: "
        f"{{requests: {{storage: '{storage}'}}}}}}}}}}}}"
    )


def repository(url: str) -> str:
    """A repository, in a cluster without a way to the internet."""
    return f"""{ISOLATED}apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: a, namespace: b}}
spec: {{url: "{url}", interval: 1h}}
---
{JOB}spec: {{trainer: {{image: "registry.example/train:1.0"}}}}"""


EXPORTER = release("prometheus-node-exporter", name="ne")
NODE_METRICS = daemon_set(
    "metrics",
    "hostNetwork: true, tolerations: [{operator: Exists}], "
    "containers: [{name: a, image: 'a:1', ports: [{containerPort: 9100}]}]",
)
SAID: dict[str, tuple[str, str, list[str]]] = {
    "a driver for EFA, and no job that asks for it": (
        "EFA017",
        f"{release('aws-dranet')}\n---\n{NO_EFA}",
        [],
    ),
    "EFA on a type that has none": (
        "EFA002",
        "nodePools: [{name: gpu, instanceTypes: [g5.4xlarge]}]\njobs: [{name: llama, resources: {efa: 4}}]",
        ["job `llama` asks for 4 EFA devices a node, and `g5.4xlarge` has 0"],
    ),
    "a layout with EFA, of a type that has none": (
        "EFA006",
        f"{LAYOUT}\n---\n{required(TYPE, 'g5.4xlarge')}",
        ["network card 0 of `g5.4xlarge` takes no EFA"],
    ),
    "a layout of a type whose cards nobody says": (
        "EFA006",
        f"{LAYOUT}\n---\n{required(TYPE, 'p6e-gb200.36xlarge')}",
        [],
    ),
    "a layout with EFA on a card that takes none": (
        "EFA006",
        f"{LAYOUT}\n---\n{required(TYPE, 'p6-b300.48xlarge')}",
        ["network card 0 of `p6-b300.48xlarge` takes no EFA"],
    ),
    "a plugin for EFA that no job asks for": (
        "EFA015",
        f"{release('aws-efa-k8s-device-plugin', '{resources: {}}')}\n---\n{NO_EFA}",
        [],
    ),
    "a chart whose version Flux fills in": (
        "RUN025",
        release("loki").replace("1.2.3", "'${VERSION}'"),
        [],
    ),
    "a range of versions": (
        "RUN025",
        release("loki").replace("1.2.3", "'1.x'"),
        ["release `loki` has `1.x` for chart `loki`"],
    ),
    "DCGM that is kept off a pool without GPUs": (
        "HLT005",
        release("eks-node-monitoring-agent", f"{{dcgmAgent: {{tolerations: [{GPU_ALONE}]}}}}")
        + f"\n---\n{CPU_POOL}",
        [],
    ),
    "a plugin for EFA in a DaemonSet, and no job that asks for it": (
        "HLT028",
        daemon_set(
            "efa",
            "containers: [{name: efa, image: 'public.ecr.aws/eks/aws-efa-k8s-device-plugin:v0.5.30'}]",
        )
        + f"\n---\n{NO_EFA}",
        [],
    ),
    "a plugin for EFA in a DaemonSet for other nodes": (
        "HLT028",
        daemon_set(
            "efa",
            f"nodeSelector: {{{TYPE}: p5.48xlarge}}, "
            "containers: [{name: efa, image: 'public.ecr.aws/eks/aws-efa-k8s-device-plugin:v0.5.30'}]",
        ),
        [],
    ),
    "monitors of a volume that the chart mounts": (
        "HLT025",
        release(
            "node-problem-detector",
            "{settings: {log_monitors: [/custom-config/nvidia.json]}, "
            "extraVolumeMounts: [{name: a, mountPath: /custom-config}]}",
        ),
        [],
    ),
    "a device plugin that is kept off a pool without GPUs": (
        "HLT009",
        release("nvidia-device-plugin", f"{{tolerations: [{GPU_ALONE}]}}") + f"\n---\n{CPU_POOL}",
        [],
    ),
    "node repair beside on-demand capacity": (
        "HLT015",
        release("karpenter", "{settings: {featureGates: {nodeRepair: true}}}").replace(
            "1.2.3", "1.15.0"
        )
        + f"\n---\n{RESERVED.replace('CAPACITY', 'on-demand')}",
        [],
    ),
    "node repair that ends the old node first": (
        "HLT015",
        release(
            "karpenter",
            "{settings: {featureGates: {nodeRepair: true, terminateFirstRepair: true}}}",
        ).replace("1.2.3", "1.15.0")
        + f"\n---\n{RESERVED.replace('CAPACITY', 'reserved')}",
        [],
    ),
    "no node repair": (
        "HLT015",
        release("karpenter", "{settings: {featureGates: {nodeRepair: false}}}").replace(
            "1.2.3", "1.15.0"
        )
        + f"\n---\n{RESERVED.replace('CAPACITY', 'reserved')}",
        [],
    ),
    "an agent of logs that is kept off a pool without accelerators": (
        "HLT065",
        release("alloy", f"{{controller: {{tolerations: [{GPU_ALONE}]}}}}") + f"\n---\n{CPU_POOL}",
        [],
    ),
    "an exporter of GPUs that is kept off Neuron devices": (
        "HLT065",
        daemon_set(
            "dcgm",
            f"nodeSelector: {{{TYPE}: trn1.32xlarge}}, "
            "containers: [{name: a, image: 'nvcr.io/nvidia/k8s/dcgm-exporter:4.5.2-4.8.1-ubi9'}]",
        )
        + f"\n---\n{required(TYPE, 'trn1.32xlarge')}",
        [],
    ),
    "a release of the exporter of GPUs that is kept off a pool without GPUs": (
        "HLT062",
        release("dcgm-exporter", f"{{tolerations: [{GPU_ALONE}]}}") + f"\n---\n{CPU_POOL}",
        [],
    ),
    "one DaemonSet with one port twice": (
        "HLT064",
        daemon_set(
            "gpu",
            "containers: [{name: a, image: 'a:1', ports: [{containerPort: 80, hostPort: 9400}]}, "
            "{name: b, image: 'a:1', ports: [{containerPort: 81, hostPort: 9400}]}]",
        ),
        [],
    ),
    "one port on nodes of different types, by affinity": (
        "HLT064",
        listening("gpu", affinity("p4d.24xlarge"))
        + "\n---\n"
        + listening("efa", affinity("p5.48xlarge")),
        [],
    ),
    "one port on nodes of the same types, by affinity": (
        "HLT064",
        listening("gpu", affinity("p4d.24xlarge"))
        + "\n---\n"
        + listening("efa", affinity("p4d.24xlarge")),
        ["the DaemonSet `efa` listens on port 9400 of its nodes, as the DaemonSet `gpu` does"],
    ),
    "a node-exporter beside another one": (
        "HLT064",
        EXPORTER + "\n---\n" + NODE_METRICS,
        [
            "the DaemonSet `metrics` listens on port 9100 of its nodes, as the node-exporter of release `ne` does"
        ],
    ),
    "a node-exporter that is switched off": (
        "HLT064",
        release("kube-prometheus-stack", "{nodeExporter: {enabled: false}}")
        + "\n---\n"
        + NODE_METRICS,
        [],
    ),
    "a node-exporter whose values are elsewhere": (
        "HLT064",
        EXPORTER.replace("values: {}", "valuesFrom: [{kind: ConfigMap, name: a}]")
        + "\n---\n"
        + NODE_METRICS,
        [],
    ),
    "a node-exporter with a network of its own": (
        "HLT064",
        EXPORTER.replace("values: {}", "values: {hostNetwork: false}") + "\n---\n" + NODE_METRICS,
        [],
    ),
    "a node-exporter on a port that Flux fills in": (
        "HLT064",
        EXPORTER.replace("values: {}", "values: {service: {port: '${PORT}'}}")
        + "\n---\n"
        + NODE_METRICS,
        [],
    ),
    "a port of the host on two addresses": (
        "HLT064",
        (listening("gpu") + "\n---\n" + listening("efa")).replace(
            "hostPort: 9400", "hostPort: 9400, hostIP: 127.0.0.1", 1
        ),
        ["the DaemonSet `efa` listens on port 9400 of its nodes, as the DaemonSet `gpu` does"],
    ),
    "a label that a third party may have added": (
        "HLT059",
        alert('container_memory_working_set_bytes{team="a"} > 1e9'),
        [],
    ),
    "values of Prometheus that are elsewhere": (
        "HLT060",
        release("kube-prometheus-stack").replace(
            "values: {}", "valuesFrom: [{kind: ConfigMap, name: values}]"
        )
        + "\n---\n"
        + monitor(),
        [],
    ),
    "Services of all namespaces": (
        "HLT066",
        monitor(", namespaceSelector: {any: true}").replace("monitoring}", "training}"),
        [],
    ),
    "a volume of no size": ("HLT061", kept("100GB", "100 gigabytes"), []),
    "a volume as large as what is kept": (
        "HLT061",
        kept("100GB", "100Gi"),
        ["samples of 100GB are kept on a volume of 100Gi"],
    ),
    "a node group whose size Flux fills in": (
        "PLC049",
        subnet("instanceType: m7i.8xlarge, maxSize: '${NODES}'"),
        ["nodes in `us-west-2b` take 400 addresses, and the private subnets there have 59"],
    ),
    "a node group without EFA": (
        "PLC049",
        subnet("instanceType: p5.48xlarge, maxSize: 8"),
        ["nodes in `us-west-2b` take 1200 addresses, and the private subnets there have 59"],
    ),
    "a node group with EFA, each of whose interfaces has an address": (
        "PLC049",
        subnet("instanceType: p5.48xlarge, maxSize: 8, efaEnabled: true"),
        ["nodes in `us-west-2b` take 1448 addresses, and the private subnets there have 59"],
    ),
    "Cilium in place of the VPC CNI": (
        "PLC073",
        release("cilium", "{cni: {exclusive: true}, routingMode: native}"),
        [],
    ),
    "a registry that Flux fills in": (
        "RUN071",
        ISOLATED + JOB + "spec: {trainer: {image: '${REGISTRY}/train:1.0'}}",
        [],
    ),
    "a repository whose host Flux fills in": (
        "RUN071",
        repository("ssh://git@${HOST}/repo.git"),
        [],
    ),
    "a repository whose user Flux fills in": (
        "RUN071",
        repository("https://${TEAM}.github.io/charts"),
        [
            "the repository of GitRepository `a` is at `${team}.github.io`, and the cluster has no way to the internet"
        ],
    ),
    "a repository without an address": ("RUN071", repository(""), []),
    "the loopback of a job on one node": (
        "EFA020",
        "jobs: [{name: llama, nodes: 1, env: {GLOO_SOCKET_IFNAME: lo}}]",
        [],
    ),
    "no interface whose whole name is a beginning": ("EFA020", env(NCCL_SOCKET_IFNAME="^=eth"), []),
    "no interface of one whole name": (
        "EFA020",
        env(NCCL_SOCKET_IFNAME="^=eth0"),
        ["`NCCL_SOCKET_IFNAME` is `^=eth0` in job `llama`, and a pod has `eth0`"],
    ),
    "limits of a script that reach containerd": (
        "HLT038",
        f"{CLASS}spec:\n  userData: |\n    #!/bin/bash\n    ulimit -l unlimited\n"
        "    printf '[Service]\\nLimitMEMLOCK=infinity\\n' > /etc/systemd/system/containerd.service.d/a.conf\n",
        [],
    ),
    "a script that speaks of a limit": (
        "HLT038",
        f"{CLASS}spec:\n  userData: |\n    #!/bin/bash\n    echo no limit\n",
        [],
    ),
    "an image of a node group's own": ("HLT040", node_group("AmiType: CUSTOM"), []),
    "a launch template of a node group": (
        "HLT040",
        node_group("LaunchTemplate: {Id: lt-0a1b2c3d4e5f60718}"),
        [],
    ),
}
HELPS = {
    "huge pages that Karpenter does not know of": (
        "EFA008",
        NO_PAGES,
        "set `FI_EFA_USE_HUGE_PAGE` to `0`, or ask for `hugepages-2Mi: 5Gi`, with a NodeOverlay that declares them",
    ),
    "huge pages that Karpenter knows of": (
        "EFA008",
        f"{NO_PAGES}\n---\n{OVERLAY}",
        "set `FI_EFA_USE_HUGE_PAGE` to `0`, or ask for `hugepages-2Mi: 5Gi`",
    ),
    "EFA on a type that has none": (
        "EFA002",
        "nodePools: [{name: gpu, instanceTypes: [g5.4xlarge]}]\njobs: [{name: llama, resources: {efa: 4}}]",
        "take a type with EFA, or remove `efa` of `resources`",
    ),
    "a layout with EFA, of a type that has none": (
        "EFA006",
        f"{LAYOUT}\n---\n{required(TYPE, 'g5.4xlarge')}",
        "take a type with EFA, or no interface with it",
    ),
    "an image of another architecture, on Graviton": (
        "HLT027",
        f"{required(TYPE, 'g5g.16xlarge')}\n---\n" + parameter("x86_64/nvidia"),
        "write `arm64/nvidia` in the path, or `alias: al2023@v20260714`",
    ),
}


@pytest.mark.parametrize("title", SAID)
def test_it_is_said(title: str) -> None:
    code, text, messages = SAID[title]
    assert said(code, text) == messages


def test_efa_is_missed_where_amounts_are_said() -> None:
    """Of a job that asks for no accelerator either, at all its limits."""
    text = NO_EFA.replace("efa: null", "efa: null, nvidia.com/gpu: null")
    (only,) = found("EFA001", text)
    assert only.message == "job `llama` has 4 nodes of `p4d.24xlarge` and asks for no EFA"
    assert str(only.at).endswith("spec.trainer.resourcesPerNode.limits")


def test_nodes_with_efa_are_why_a_pool_is_in_one_zone() -> None:
    """Where no job of the set says that it talks over EFA."""
    interfaces = (
        "{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}, "
        "{networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only}"
    )
    changes = [
        required("topology.kubernetes.io/zone", "us-west-2a", "us-west-2b"),
        f"{CLASS}spec: {{networkInterfaces: [{interfaces}]}}",
        f"{JOB}$patch: delete",
    ]
    (only,) = found("PLC003", "\n---\n".join(changes))
    assert only.notes == ("its nodes have EFA interfaces",)


@pytest.mark.parametrize("title", HELPS)
def test_what_helps(title: str) -> None:
    code, text, help = HELPS[title]
    assert [each.help for each in found(code, text)] == [help]


def _charts() -> list[str]:
    """The repository of every chart of a release."""
    found = set()
    for path in (DATA / "releases").rglob("*.json"):
        chart = json.loads(path.read_text()).get("chart", {})
        if chart.get("repository"):
            found.add(chart["repository"])
    return sorted(found)


@pytest.mark.parametrize("url", _charts())
def test_no_chart_of_a_release_is_in_reach_without_internet(url: str) -> None:
    kind = "OCIRepository" if url.startswith("oci:") else "HelmRepository"
    ref = ", ref: {tag: 1.0.0}" if url.startswith("oci:") else ""
    source = f"""{ISOLATED}apiVersion: source.toolkit.fluxcd.io/v1
kind: {kind}
metadata: {{name: a, namespace: b}}
spec: {{url: "{url}", interval: 1h{ref}}}"""
    assert [message for message in said("RUN071", source) if f"{kind} `a`" in message]
