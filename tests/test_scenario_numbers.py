"""What scenarios ask of nodes, queues, networks and storage, as numbers of the objects that Flux applies.

Quotas are whole nodes (docs/spec.md, Queues): of accelerators and EFA devices they are the job's own numbers, of CPU
and memory what jobs can get of so many nodes, which is more than a job asks for that leaves a part of its nodes.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

import pytest
from test_scenarios import FOLDER, compiled
from trainyard.output.manifest import Body
from trainyard.run.outcome import Compilation
from trainyard.verify.amounts import amount

ZERO3 = "zero3-offloaded-on-four-nodes"
ONE_GPU = "one-gpu-on-a-node-of-its-own"
CPUS = "llama-on-cpus"
FP8 = "fp8-on-one-h100-node"
LLAMA_70B = "llama-70b-on-640-gpus"
GPT_70B = "gpt-70b-for-three-days"
TEN_NODES = "gpu-lost-in-a-gang"


class Numbers(NamedTuple):
    """One scenario: per pod where nothing else is said; ``ranks`` and ``quota`` of the whole job."""

    scenario: str
    instance_type: str
    nodes: int
    gpus: int
    efa: int
    cpu: str
    memory: str
    shared: str
    ranks: int
    zone: str


ROWS = (
    Numbers(TEN_NODES, "g6e.48xlarge", 10, 8, 4, "180", "1300Gi", "64Gi", 80, "ap-northeast-2a"),
    Numbers(ZERO3, "g6e.12xlarge", 4, 4, 1, "44", "320Gi", "64Gi", 16, "ap-northeast-2a"),
    Numbers(ONE_GPU, "g6e.4xlarge", 1, 1, 0, "14", "100Gi", "16Gi", 1, "ap-northeast-2a"),
    Numbers(CPUS, "m7i.16xlarge", 4, 0, 0, "32", "64Gi", "2Gi", 4, "ap-northeast-2a"),
    Numbers(FP8, "p5.48xlarge", 1, 8, 0, "180", "1750Gi", "128Gi", 8, "us-west-2a"),
    Numbers(LLAMA_70B, "p5.48xlarge", 80, 8, 32, "180", "1750Gi", "64Gi", 640, "us-west-2a"),
    Numbers(GPT_70B, "g7e.48xlarge", 4, 8, 4, "180", "1750Gi", "64Gi", 32, "us-west-2b"),
)


@cache
def done(scenario: str) -> Compilation:
    return compiled(FOLDER / f"{scenario}.yaml")


def only(scenario: str, kind: str) -> Body:
    """The one object of a kind."""
    (body,) = (
        manifest.body for manifest in done(scenario).manifests if manifest.body["kind"] == kind
    )
    return body


def pod_of(scenario: str) -> dict[str, Any]:
    """The pod template of the job's runtime."""
    (replicated,) = only(scenario, "ClusterTrainingRuntime")["spec"]["template"]["spec"][
        "replicatedJobs"
    ]
    template: dict[str, Any] = replicated["template"]["spec"]["template"]
    return template


def derived(scenario: str, field: str) -> str:
    plan = done(scenario).plan
    assert plan is not None
    (value,) = (
        derived.value
        for derived in plan.derived
        if derived.object.startswith("job/") and derived.field == field
    )
    return value


def at_least(quota: str, pod: str, pods: int) -> bool:
    """Whether a quota has room for so many pods."""
    room, need = amount(quota), amount(pod)
    assert room is not None
    assert need is not None
    return room >= pods * need


def properties(scenario: str, kind: str) -> dict[str, Any]:
    """The properties of the one resource of a CloudFormation type."""
    (resource,) = (
        resource["Properties"]
        for artifact in done(scenario).artifacts
        if artifact.format == "cloudformation"
        for resource in artifact.body["Resources"].values()
        if resource["Type"] == kind
    )
    return dict(resource)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.scenario)
def test_a_job_is_what_its_scenario_says(row: Numbers) -> None:
    trainer = only(row.scenario, "TrainJob")["spec"]["trainer"]
    limits = trainer["resourcesPerNode"]["limits"]
    assert trainer["numNodes"] == row.nodes
    assert trainer["numNodes"] * trainer["numProcPerNode"] == row.ranks
    assert (limits["cpu"], limits["memory"]) == (row.cpu, row.memory)
    assert int(limits.get("nvidia.com/gpu", 0)) == row.gpus
    assert int(limits.get("vpc.amazonaws.com/efa", 0)) == row.efa
    volumes = pod_of(row.scenario)["spec"]["volumes"]
    shared = [volume["emptyDir"]["sizeLimit"] for volume in volumes if volume["name"] == "dshm"]
    assert shared == [row.shared]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.scenario)
def test_its_pool_has_the_nodes_and_its_queue_the_quota(row: Numbers) -> None:
    pool = only(row.scenario, "NodePool")["spec"]
    requirements = {
        need["key"]: need["values"] for need in pool["template"]["spec"]["requirements"]
    }
    assert requirements["node.kubernetes.io/instance-type"] == [row.instance_type]
    assert requirements["topology.kubernetes.io/zone"] == [row.zone]
    (group,) = only(row.scenario, "ClusterQueue")["spec"]["resourceGroups"]
    (flavor,) = group["flavors"]
    quota = {item["name"]: item["nominalQuota"] for item in flavor["resources"]}
    assert int(quota.get("nvidia.com/gpu", 0)) == row.nodes * row.gpus
    assert int(quota.get("vpc.amazonaws.com/efa", 0)) >= row.nodes * row.efa
    assert at_least(quota["cpu"], row.cpu, row.nodes)
    assert at_least(quota["memory"], row.memory, row.nodes)


def test_ten_nodes_are_placed_together_and_repaired() -> None:
    node_class = only(TEN_NODES, "EC2NodeClass")["spec"]
    assert node_class["placementGroupSelector"] == {"name": "gpu-lost-l40s"}
    charts = {
        manifest.body["metadata"]["name"]: manifest.body
        for manifest in done(TEN_NODES).manifests
        if manifest.body["kind"] == "HelmRelease"
    }
    gates = charts["karpenter"]["spec"]["values"]["settings"]["featureGates"]
    assert gates["nodeRepair"] is True
    runtime = only(TEN_NODES, "ClusterTrainingRuntime")
    assert runtime["spec"]["template"]["spec"]["failurePolicy"]["maxRestarts"] == 10
    made = properties(TEN_NODES, "AWS::FSx::FileSystem")["LustreConfiguration"]
    assert made["DeploymentType"] == "PERSISTENT_2"
    assert made["PerUnitStorageThroughput"] == 250


def test_sixteen_ranks_offload_to_memory_and_take_64_samples_a_step() -> None:
    (text,) = (
        text
        for manifest in done(ZERO3).manifests
        if manifest.body["kind"] == "ConfigMap"
        for key, text in manifest.body["data"].items()
        if key.startswith("etc.deepspeed")
    )
    config = json.loads(text)
    zero = config["zero_optimization"]
    assert zero["stage"] == 3
    assert zero["offload_param"]["device"] == "cpu"
    assert zero["offload_optimizer"]["device"] == "cpu"
    assert config["train_batch_size"] == 1 * 4 * 16
    made = properties(ZERO3, "AWS::FSx::FileSystem")
    assert made["StorageCapacity"] == 1200


def test_one_gpu_takes_no_other_of_its_node() -> None:
    assert only(ONE_GPU, "NodePool")["spec"]["limits"] == {"nvidia.com/gpu": "1"}


def test_cpus_talk_by_gloo_on_nodes_that_only_they_tolerate() -> None:
    taint = {"key": "intel.com/amx", "value": "present", "effect": "NoSchedule"}
    assert only(CPUS, "NodePool")["spec"]["template"]["spec"]["taints"] == [taint]
    (toleration,) = pod_of(CPUS)["spec"]["tolerations"]
    assert toleration == {**taint, "operator": "Equal"}
    assert "--backend=gloo" in only(CPUS, "TrainJob")["spec"]["trainer"]["command"]


def test_fp8_keeps_its_models_on_the_disks_of_its_node() -> None:
    assert only(FP8, "EC2NodeClass")["spec"]["instanceStorePolicy"] == "RAID0"
    pod = pod_of(FP8)["spec"]
    caches = [volume for volume in pod["volumes"] if volume["name"] == "hf-cache"]
    assert caches == [{"name": "hf-cache", "emptyDir": {"sizeLimit": "10Ti"}}]
    (container,) = pod["containers"]
    assert {"name": "hf-cache", "mountPath": "/data/hf_cache"} in container["volumeMounts"]


def test_640_ranks_are_placed_below_one_layer_and_tensors_within_a_node() -> None:
    annotations = pod_of(LLAMA_70B)["metadata"]["annotations"]
    assert (
        annotations["kueue.x-k8s.io/podset-required-topology"]
        == "topology.k8s.aws/network-node-layer-1"
    )
    trainer = only(LLAMA_70B, "TrainJob")["spec"]["trainer"]
    said = dict(word[2:].split("=") for word in trainer["command"] if "=" in word)
    tensor = int(said["tensor-model-parallel-size"])
    pipeline = int(said["pipeline-model-parallel-size"])
    assert (tensor, pipeline) == (8, 4)
    assert trainer["numProcPerNode"] % tensor == 0
    assert int(derived(LLAMA_70B, "model.parallel.data")) == 640 // (tensor * pipeline)


def test_a_checkpoint_of_980_gb_takes_348_seconds() -> None:
    """70e9 parameters of 14 bytes at 2,812.5 MB/s are 348.4 seconds, which `explain` rounds up."""
    made = properties(LLAMA_70B, "AWS::FSx::FileSystem")
    throughput = made["LustreConfiguration"]["PerUnitStorageThroughput"]
    gibibytes, unit = derived(LLAMA_70B, "checkpoint.size").split()
    assert unit == "GiB"
    size = float(gibibytes) * 2**30
    speed = made["StorageCapacity"] / 1024 * throughput
    assert size == pytest.approx(980e9, rel=1e-3)
    assert speed == 2812.5
    assert int(size / (speed * 1e6)) == 348
    assert derived(LLAMA_70B, "checkpoint.write") == "5m49s"


def test_three_days_of_megatron_on_32_gpus() -> None:
    assert only(GPT_70B, "TrainJob")["spec"]["activeDeadlineSeconds"] == 72 * 3600
    trainer = only(GPT_70B, "TrainJob")["spec"]["trainer"]
    assert "--tensor-model-parallel-size=4" in trainer["command"]
    assert "--pipeline-model-parallel-size=4" in trainer["command"]
    assert derived(GPT_70B, "model.parallel.data") == "2"
    made = properties(GPT_70B, "AWS::FSx::FileSystem")["LustreConfiguration"]
    assert made["DeploymentType"] == "PERSISTENT_2"
    assert made["PerUnitStorageThroughput"] >= 500
