"""What rules find beside the examples of their pages: their further branches, each by the words of its finding."""

from __future__ import annotations

import json
import re
from datetime import date

import pytest
from trainyard.catalog import load_catalog
from trainyard.catalog.minors import ended
from trainyard.core.pods.plan import Container, Pod
from trainyard.judge.model.amounts import amounts_of, total
from trainyard.judge.policy.config import Config
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.language.units import Quantity

from tests.policy.harness import builtin_rules, findings_for
from tests.policy.manifests import POOL, pods, release, required

pytestmark = pytest.mark.needs("lint")

LIMITS = """apiVersion: v1
kind: LimitRange
metadata: {{name: a, namespace: team-a}}
spec: {{limits: [{}]}}"""
CLUSTER = """apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a, region: us-west-2, version: "1.35"}
autoModeConfig: {enabled: false}"""
BLOCK = """apiVersion: karpenter.sh/v1
kind: NodePool
spec:
  template:
    spec:
      requirements:
        - {{key: node.kubernetes.io/instance-type, operator: In, values: [{}]}}
        - {{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}}
        - {{key: karpenter.k8s.aws/capacity-reservation-type, operator: In, values: [capacity-block]}}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec: {{capacityReservationSelectorTerms: [{{id: cr-0a1b2c3d4e5f60718}}], placementGroupSelector: null}}"""
MADE = """apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: scratch}}
provisioner: fsx.csi.aws.com
parameters: {{subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2{}}}"""
ECR = "763104351884.dkr.ecr.us-west-2.amazonaws.com"
"""The registry of AWS Deep Learning Containers (aws/deep-learning-containers, available_images.md)."""


def group(keys: str) -> str:
    """A cluster with a managed node group that has these keys."""
    return (
        f"{CLUSTER}\nmanagedNodeGroups: [{{name: x, nodeRepairConfig: {{enabled: true}}, {keys}}}]"
    )


def pool(keys: str) -> str:
    """A pool of another template."""
    return f"{POOL}spec: {{template: {{spec: {{{keys}}}}}}}"


def configured(values: str) -> str:
    """A pool with the label of a configuration of the device plugin, and the plugin's release with these values."""
    label = "{template: {metadata: {labels: {nvidia.com/device-plugin.config: shared}}}}"
    return f"{release('nvidia-device-plugin', values, 'nvdp')}\n---\n{POOL}spec: {label}"


def of_job(**env: str) -> str:
    listed = ", ".join(f'{name}: "{value}"' for name, value in env.items())
    return f"jobs: [{{name: llama, env: {{{listed}}}}}]"


def command(*words: str) -> str:
    """The job with another command."""
    return f"jobs: [{{name: llama, command: {json.dumps(words)}}}]"


def image(name: str) -> str:
    """The job with an image of AWS."""
    return f'jobs: [{{name: llama, image: "{ECR}/{name}"}}]'


def sidecar(image: str) -> str:
    """The runtime of the job with another container."""
    containers = f'{{containers: [{{name: logs, image: "{image}"}}]}}'
    node = f"{{name: node, template: {{spec: {{template: {{spec: {containers}}}}}}}}}"
    spec = f"{{template: {{spec: {{replicatedJobs: [{node}]}}}}}}"
    return f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nspec: {spec}"


"""EFA on the other cards of a p4d.24xlarge."""
FAULTS = {
    "memory that is registered is copied at each fork": (
        of_job(RDMAV_FORK_SAFE="1"),
        "EFA010",
        "`RDMAV_FORK_SAFE` is set in job `llama`",
    ),
    "RDMA on a type that has none": (
        "nodePools: [{name: gpu, instanceTypes: [g4dn.metal]}]\n"
        + of_job(FI_EFA_USE_DEVICE_RDMA="1"),
        "EFA010",
        "`FI_EFA_USE_DEVICE_RDMA` is `1`, and `g4dn.metal` has no RDMA read in job `llama`",
    ),
    "a sidecar in a Region that does not exist": (
        sidecar("111122223333.dkr.ecr.us-wset-2.amazonaws.com/logs:1.0"),
        "RUN038",
        "image `111122223333.dkr.ecr.us-wset-2.amazonaws.com/logs:1.0` of job `llama` is in region `us-wset-2`, "
        "which does not exist",
    ),
    "the newest image of Bottlerocket": (
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"
        "spec: {amiSelectorTerms: [{alias: bottlerocket@latest}]}",
        "HLT018",
        "node class `gpu` follows `bottlerocket@latest`",
    ),
    "one sample and one step, and a batch of two": (
        "jobs: [{name: llama, command: [torchrun, train.py, --deepspeed=/z.json], files: {/z.json: "
        """'{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1}'}}]""",
        "RUN066",
        "the configuration of DeepSpeed of job `llama` has a train_batch_size of 64, with 32 ranks, "
        "train_micro_batch_size_per_gpu 1, gradient_accumulation_steps 1",
    ),
    "threads of sockets beside EFA": (
        of_job(NCCL_SOCKET_NTHREADS="4"),
        "EFA011",
        "`NCCL_SOCKET_NTHREADS` is for TCP sockets only",
    ),
    "a repository that is out of reach": (
        "network: {create: {nat: none}}\nflux: {url: 'ssh://git@github.com/team/repo.git'}",
        "RUN071",
        "the repository of GitRepository `flux-system` is at `github.com`, and the cluster has no way to the internet",
    ),
    "a group with a least above its most": (
        group("instanceType: m7i.large, minSize: 5, maxSize: 4"),
        "LIM012",
        "node group `x` has at least 5 nodes and at most 4",
    ),
    "a group of a block, of a type that is in none": (
        group("instanceType: g5.48xlarge, instanceMarketOptions: {marketType: capacity-block}"),
        "PLC023",
        "`g5.48xlarge` of node group `x` is not sold in Capacity Blocks",
    ),
    "a family that Auto Mode has not": (
        pool(
            "nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}, "
            "requirements: [{key: eks.amazonaws.com/instance-family, operator: In, values: [g7]}]"
        ),
        "PLC075",
        "`g7` is a family that EKS Auto Mode does not launch",
    ),
    "pods of a block that may not be disrupted, and no time to end": (
        BLOCK.format("p4d.24xlarge"),
        "PLC034",
        "pool `gpu` of a Capacity Block has no `terminationGracePeriod`, and its pods may not be disrupted",
    ),
    "UltraServers, which EC2 takes before Karpenter begins": (
        BLOCK.format("p6e-gb200.36xlarge"),
        "PLC034",
        "pool `gpu` has UltraServers, which EC2 takes 60 minutes before their block ends, and Karpenter drains from "
        "40 minutes before it",
    ),
    "a pool of one block with more nodes than a block has": (
        "nodePools: [{name: gpu, nodes: 70, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]",
        "PLC016",
        "pool `gpu` may have 70 nodes, and a Capacity Block has at most 64",
    ),
    "layouts that EC2 gets wrong by itself": (
        required("node.kubernetes.io/instance-type", "p6-b300.48xlarge"),
        "EFA005",
        "node class `gpu` of pool `gpu` has no `networkInterfaces`",
    ),
    "file systems of an old version of Lustre, by default": (
        MADE.format(""),
        "RUN034",
        "storage class `scratch` creates file systems of no `fileSystemTypeVersion`, which means Lustre 2.10, and "
        "AL2023 nodes cannot mount them",
    ),
    "file systems of an old version of Lustre, by name": (
        MADE.format(', fileSystemTypeVersion: "2.10"'),
        "RUN034",
        "storage class `scratch` creates file systems of Lustre `2.10`, and AL2023 nodes cannot mount them",
    ),
    "everything in a namespace": (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a, namespace: team-a}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"
        "subjects: [{kind: Group, name: people, apiGroup: rbac.authorization.k8s.io}]",
        "ACC040",
        "`people` may do everything in namespace `team-a`",
    ),
    "subnets that another cluster owns": (
        f"{CLUSTER}\n---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"
        "spec: {subnetSelectorTerms: [{tags: {kubernetes.io/cluster/b: owned}}]}",
        "PLC062",
        "node class `gpu` is for cluster `b`, and the cluster of the set is `a`",
    ),
    "a configuration of the device plugin where it has none": (
        configured("{}"),
        "HLT043",
        "pool `gpu` has the label `nvidia.com/device-plugin.config: shared`, and release `nvdp` has none",
    ),
    "a configuration of the device plugin that it has not": (
        configured("{config: {map: {whole: 'version: v1'}}}"),
        "HLT043",
        "pool `gpu` has the label `nvidia.com/device-plugin.config: shared`, and release `nvdp` has `whole`",
    ),
    "a launcher of MPI without hosts": (
        command("mpirun", "-np", "32", "python", "train.py"),
        "RUN026",
        "job `llama` runs `mpirun` on 4 nodes and does not say on which hosts",
    ),
    "machines of accelerate that do not meet": (
        command("accelerate", "launch", "--num_machines=4", "train.py"),
        "RUN026",
        "job `llama` runs `accelerate` on 4 machines and does not say where they meet",
    ),
    "nodes that train alone": (
        command("torchrun", "--standalone", "train.py"),
        "RUN036",
        "job `llama` has 4 nodes, and `--standalone` in its command",
    ),
    "nodes that wait for themselves": (
        command("torchrun", "--master_addr=localhost", "train.py"),
        "RUN036",
        "job `llama` has 4 nodes, and `--master_addr` `localhost`",
    ),
    "an image for Neuron on GPUs": (
        image("pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.27.0-ubuntu24.04"),
        "RUN037",
        f"image `{ECR}/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.27.0-ubuntu24.04` of job `llama` is for "
        "Neuron devices, and the job asks for GPUs",
    ),
    "an image for GPUs on Neuron": (
        "nodePools: [{name: gpu, instanceTypes: [trn1.32xlarge]}]\n"
        + image("pytorch-training:2.9.0-gpu-py312-cu130-ubuntu22.04-ec2"),
        "RUN037",
        f"image `{ECR}/pytorch-training:2.9.0-gpu-py312-cu130-ubuntu22.04-ec2` of job `llama` is for GPUs, and the job "
        "asks for Neuron devices",
    ),
    "an image for CPUs on GPUs": (
        image("pytorch-training:2.9.0-cpu-py312-ubuntu22.04-ec2"),
        "RUN037",
        f"image `{ECR}/pytorch-training:2.9.0-cpu-py312-ubuntu22.04-ec2` of job `llama` is for CPUs, and the job asks "
        "for GPUs",
    ),
    "an init container above the most of a container": (
        LIMITS.format("{type: Container, max: {cpu: 95}}")
        + "\n---\n"
        + pods(
            "{spec: {initContainers: [{name: fetch, image: 'a:1', resources: {limits: {cpu: 96}}}]}}"
        ),
        "LIM014",
        "container `fetch` of job `llama` has 96 of `cpu`, and LimitRange `a` allows 95",
    ),
    "an init container that is no sidecar": (
        pods(
            "{spec: {initContainers: [{name: wait, image: 'a:1', restartPolicy: OnFailure, "
            "command: [sleep, infinity]}]}}"
        ),
        "RUN131",
        "init container `wait` of job `llama` never ends: `sleep infinity`",
    ),
}
SILENT = {
    "a shell whose option ends it at the first fault": command(
        "bash", "-ec", "torchrun train.py; echo done"
    ),
    "options of a shell, each a word": command(
        "bash", "-o", "pipefail", "-c", "torchrun train.py | tee /tmp/log"
    ),
    "a configuration of the device plugin in a ConfigMap": configured("{config: {name: a}}"),
    "hosts of MPI by a variable": (
        "jobs: [{name: llama, command: [mpirun, -np, '32', python, train.py], env: {HYDRA_HOST_FILE: /a}}]"
    ),
    "as many processes as there are GPUs, by name": command(
        "torchrun", "--nproc-per-node=gpu", "train.py"
    ),
    "a sidecar that Flux may say": pods(
        "{spec: {initContainers: [{name: log, image: 'a:1', restartPolicy: '${POLICY}', command: [sleep, infinity]}]}}"
    ),
    "a LimitRange of what the job does not ask for": LIMITS.format(
        "{type: Pod, max: {ephemeral-storage: 1Gi}}"
    ),
    "a LimitRange with a least only": LIMITS.format("{type: Pod, min: {cpu: 1}}"),
}


@pytest.mark.parametrize("title", FAULTS)
def test_it_is_found(title: str) -> None:
    text, code, message = FAULTS[title]
    assert message in [each.message for each in findings_for(text) if each.code == code]


@pytest.mark.parametrize("title", SILENT)
def test_it_is_no_fault(title: str) -> None:
    assert findings_for(SILENT[title]) == []


def container(cpu: int, *, sidecar: bool = False) -> Container:
    """A container that may take so much CPU, and asks for a tenth of it."""
    return Container(
        at=Route(()),
        name=f"c{cpu}",
        requests={"cpu": Quantity(cpu * 100)},
        limits={"cpu": Quantity.of(cpu)},
        restart_policy="Always" if sidecar else None,
    )


@pytest.mark.parametrize(
    ("init", "cpu", "known"),
    [
        ([], 5, 22),
        ([container(4)], 5, 22),
        ([container(7), container(6)], 7, 22),
        ([container(4, sidecar=True)], 9, 26),
        ([container(4, sidecar=True), container(6)], 10, 26),
        ([container(6), container(4, sidecar=True)], 9, 26),
        ([container(1, sidecar=True), container(4, sidecar=True)], 10, 27),
    ],
)
def test_what_a_pod_asks_for(init: list[Container], cpu: int, known: int) -> None:
    """As KEP-753 counts it: what runs together, or the init container that needs most. ``known``: where one container
    asks for 20 instead of 3."""
    pod = Pod(at=Route(()), containers=(container(2), container(3)), init_containers=tuple(init))
    assert total(pod) == {"cpu": Quantity(cpu * 100)}
    assert total(pod, amounts_of) == {"cpu": Quantity.of(cpu)}
    more = total(pod, amounts_of, {"c3": {"cpu": Quantity.of(20), "memory": Quantity.gib(1)}})
    assert more == {"cpu": Quantity.of(known), "memory": Quantity.gib(1)}


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("2026-07-01", "leaves standard support on 2026-07-29, in 28 days"),
        ("2026-09-01", "left standard support on 2026-07-29"),
        ("2027-09-01", "left extended support on 2027-07-29"),
    ],
)
def test_the_support_of_kubernetes_by_day(day: str, said: str) -> None:
    config = Config(today=date.fromisoformat(day))
    found = findings_for(CLUSTER.replace("1.35", "1.33"), config=config)
    assert [each.message for each in found if each.code == "HLT024"] == [f"Kubernetes 1.33 {said}"]


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.30", "left extended support on 2026-07-23"),
        ("1.27", "left extended support on 2025-07-24"),
        ("1.26", "left extended support"),
        ("1.9", "left extended support"),
        ("1.38", ""),
        ("latest", ""),
    ],
)
def test_a_kubernetes_that_no_release_has(version: str, said: str) -> None:
    """EKS takes clusters of those that ended to the oldest that it supports; of newer ones nothing is known."""
    found = findings_for(CLUSTER.replace("1.35", version), config=Config(today=date(2026, 11, 29)))
    findings = [each for each in found if each.code == "HLT024"]
    assert [each.message for each in findings] == ([f"Kubernetes {version} {said}"] if said else [])
    for finding in findings:
        assert 'write `version: "1.32"`' in (finding.help or "")
        assert "then go to 1.35" in (finding.help or "")


def test_a_field_of_later_and_the_support_of_its_cluster_lead_to_one_version() -> None:
    (rule,) = (rule for rule in builtin_rules() if rule.code == "HLT029")
    together = 0
    for text in rule.fails:
        helps = {each.code: each.help or "" for each in findings_for(text)}
        if "HLT024" in helps:
            (wanted,) = re.findall(r"Kubernetes (1\.\d+)", helps["HLT029"])
            assert f'write `version: "{wanted}"`' in helps["HLT024"]
            together += 1
    assert together


def test_the_calendar_of_ended_versions_leaves_no_gap() -> None:
    """The newest of them stands before the oldest that releases have; each ends a year after standard support."""
    minors = load_catalog().newest_release.minors
    versions = [*ended(), *minors]
    assert versions == [f"1.{number}" for number in range(27, 27 + len(versions))]
    for dates in ended().values():
        standard, extended = map(date.fromisoformat, (dates["standard"], dates["extended"]))
        assert extended.replace(year=extended.year - 1) == standard


def test_the_next_kubernetes_is_one_that_a_release_has() -> None:
    """Of a newer one it says so: no spec could have it."""
    config = Config(today=date(2050, 1, 1))
    minors = load_catalog().newest_release.minors
    dated = {version: minor.after for version, minor in minors.items() if minor.support_ends}
    newest = list(dated)[-1]
    assert dated[newest] not in dated
    for version, after in dated.items():
        found = findings_for(CLUSTER.replace("1.35", version), config=config)
        (help_,) = (each.help for each in found if each.code == "HLT024")
        assert help_ is not None
        assert (f'write `version: "{after}"`' in help_) == (version != newest)
        assert ("take it when a release of Trainyard has it" in help_) == (version == newest)


ZONES = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {{name: a, region: {region}, version: "1.35"}}
autoModeConfig: {{enabled: false}}
availabilityZones: [{region}a, {zone}]
managedNodeGroups: [{{name: cpu, instanceType: m7i.2xlarge, availabilityZones: ["{group}"]}}]
"""
POOL_IN = """\
apiVersion: karpenter.sh/v1
kind: NodePool
spec: {{template: {{spec: {{requirements: [{{key: topology.kubernetes.io/zone, operator: In, values: [{zone}]}}]}}}}}}
"""


@pytest.mark.parametrize(
    ("region", "zone", "severity"),
    [
        ("ap-northeast-1", "ap-northeast-1b", Severity.WARNING),
        ("ap-northeast-1", "ap-northeast-1e", Severity.ERROR),
        ("us-west-2", "us-west-2z", Severity.ERROR),
        ("us-east-2", "us-east-2d", Severity.ERROR),
        ("us-west-2", "us-west-2d", None),
    ],
)
def test_a_zone_that_some_account_may_have_is_a_warning(
    region: str, zone: str, severity: Severity | None
) -> None:
    """In Tokyo each account has names of its own, for four zones."""
    expected = [] if severity is None else [severity]
    pool = findings_for(POOL_IN.format(zone=zone))
    assert [each.severity for each in pool if each.code == "PLC002"] == expected
    text = ZONES.format(region=region, zone=zone, group=zone)
    cluster = [each for each in findings_for(text) if each.code == "PLC030"]
    assert [each.severity for each in cluster] == expected
    assert all(f"`{zone}`" in each.message for each in cluster)


@pytest.mark.parametrize(
    ("zone", "group", "found"),
    [
        ("us-west-2b", "us-west-2b", 0),
        ("us-west-2b", "us-west-2c", 1),
        ("us-west-2b", "${ZONE}", 0),
        ("${ZONE}", "us-west-2c", 0),
        ("${ZONE}", "us-east-1a", 1),
    ],
)
def test_a_node_group_is_in_a_zone_of_its_cluster(zone: str, group: str, found: int) -> None:
    text = ZONES.format(region="us-west-2", zone=f'"{zone}"', group=group)
    assert [each.code for each in findings_for(text)].count("PLC030") == found


def test_the_rest_of_many_is_counted() -> None:
    """QUE014 shows one object."""
    classes = [
        f"apiVersion: kueue.x-k8s.io/v1beta1\nkind: WorkloadPriorityClass\nmetadata: {{name: {name}}}\nvalue: 1"
        for name in "ab"
    ]
    (found,) = findings_for("\n---\n".join(classes))
    assert found.notes == ("1 more object is",)


def test_a_tag_of_the_owner_is_named_in_the_help() -> None:
    text, _, _ = FAULTS["subnets that another cluster owns"]
    (found,) = findings_for(text)
    assert found.help == "write `kubernetes.io/cluster/a`"


@pytest.mark.parametrize(
    ("resources", "notes"),
    [("{limits: {memory: 256Mi}}", 1), ("{requests: {memory: 512Mi}, limits: {memory: 256Mi}}", 0)],
)
def test_a_request_that_the_values_do_not_say_has_its_source(resources: str, notes: int) -> None:
    text = f"components: {{kueue: {{values: {{controllerManager: {{manager: {{resources: {resources}}}}}}}}}}}"
    (found,) = (each for each in findings_for(text) if each.code == "LIM042")
    assert "requests 512Mi memory, and may take 256Mi" in found.message
    sources = [note for note in found.notes if note.startswith("source: ")]
    assert len(sources) == notes


RUNTIME = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: {}
metadata: {{name: torch-own{}}}
spec: {{mlPolicy: {{numNodes: 1, torch: {{}}}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: llama, namespace: team-a}}
spec: {{runtimeRef: {{name: torch-own, kind: {}}}}}"""


@pytest.mark.parametrize(
    ("there", "namespace", "wanted", "help"),
    [
        ("ClusterTrainingRuntime", "", "TrainingRuntime", "write `kind: ClusterTrainingRuntime`"),
        (
            "TrainingRuntime",
            ", namespace: team-a",
            "ClusterTrainingRuntime",
            "write `kind: TrainingRuntime`",
        ),
        (
            "TrainingRuntime",
            ", namespace: team-b",
            "ClusterTrainingRuntime",
            "make the runtime in namespace `team-a`",
        ),
        (
            "TrainingRuntime",
            ", namespace: team-b",
            "TrainingRuntime",
            "make the runtime in namespace `team-a`",
        ),
    ],
)
def test_a_runtime_of_another_kind_or_namespace(
    there: str, namespace: str, wanted: str, help: str
) -> None:
    found = findings_for(RUNTIME.format(there, namespace, wanted))
    (help_given,) = (each.help for each in found if each.code == "RUN023")
    assert help_given.startswith(help)


LUSTRE = """storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9,
  mountName: abcdefgh, size: 4800Gi, version: "2.15"}}}]
jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
  terminationGracePeriod: 1m, command: [bash, -c, "COMMAND; torchrun train.py"]}]"""


@pytest.mark.parametrize(
    ("command", "deletes"),
    [
        ("rm -fr /data/llama", True),
        ("rm -R /data/llama/*", True),
        ("rm --force --recursive /data", True),
        ("rm --force /data/llama", False),
        ("rm -f /data/llama", False),
        ("rm --preserve-root /data/llama", False),
        ("rm -r /data/llama-old", False),
        ("ls -r /data/llama", False),
    ],
)
def test_what_deletes_the_folder_of_checkpoints(command: str, deletes: bool) -> None:
    found = findings_for(LUSTRE.replace("COMMAND", command))
    assert any("in which its checkpoints lie" in each.message for each in found) is deletes
