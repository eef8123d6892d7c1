"""Pools whose GPUs several jobs share: what nodes offer, what jobs ask for, what cuts GPUs into slices."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
import yaml
from builders import body_of, faults_of, job_of, objects_of, plan_of, spec
from trainyard.catalog import load_catalog
from trainyard.catalog.mig import profile_of, profiles_of
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.kueue.plan import ClusterQueue
from trainyard.eks.nodes.plan import NodeClass, NodeGroup, NodeOverlay, NodePool
from trainyard.eks.teams.plan import ResourceQuota
from trainyard.language.units import Quantity
from trainyard.lift import lift

MIG = {"mig": {"profile": "1g.5gb"}}
TURNS = {"timeSlicing": {"replicas": 4}}


def shared(sharing: dict[str, Any], **job: Any) -> dict[str, Any]:
    return spec(pool={"gpuSharing": sharing}, job={"nodes": 1, **job})


@pytest.mark.parametrize(
    ("sharing", "resource", "count", "config"),
    [
        (MIG, "nvidia.com/mig-1g.5gb", 56, "mig-mixed"),
        ({"mig": {"profile": "3g.20gb"}}, "nvidia.com/mig-3g.20gb", 16, "mig-mixed"),
        (TURNS, "nvidia.com/gpu.shared", 32, "time-slicing-4"),
    ],
)
def test_a_job_has_one_share_and_quotas_count_all(
    sharing: dict[str, Any], resource: str, count: int, config: str
) -> None:
    data = shared(sharing)
    plan, job = plan_of(data), job_of(data)
    assert job.requests[resource] == Quantity.of(1)
    assert "nvidia.com/gpu" not in job.requests
    assert job.processes == 1
    (queue,) = plan.of(ClusterQueue)
    (flavor,) = queue.flavors()
    quota = flavor.of(resource)
    assert quota is not None
    assert quota.nominal == Quantity.of(4 * count)
    (pool,) = plan.of(NodePool)
    assert pool.labels["nvidia.com/device-plugin.config"] == config
    (overlay,) = plan.of(NodeOverlay)
    assert overlay.capacity[resource] == Quantity.of(count)
    release = plan.named(HelmRelease, "nvidia-device-plugin", "flux-system")
    assert release is not None
    configs = release.values["config"]
    assert configs["default"] == "whole"
    assert config in configs["map"]
    for text in configs["map"].values():
        assert yaml.safe_load(text)["version"] == "v1"


def test_a_cluster_of_whole_gpus_has_no_configuration() -> None:
    release = plan_of(spec()).named(HelmRelease, "nvidia-device-plugin", "flux-system")
    assert release is not None
    assert "config" not in release.values


def test_gpus_are_cut_before_the_kubelet_starts() -> None:
    plan = plan_of(shared(MIG))
    body = body_of(objects_of(plan), "EC2NodeClass")
    text = body["spec"]["userData"]
    script = text.partition("#!/bin/bash")[2].rpartition("--//--")[0]
    done = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
    assert done.returncode == 0
    cut = re.search(r"nvidia-smi mig -cgi (\S+) -C", text)
    assert cut is not None
    assert cut[1].split(",") == ["1g.5gb"] * 7
    assert "Before=nodeadm-run.service" in text
    reboot = text.index("systemctl reboot")
    assert text.index("[ ! -e /var/lib/mig-slices-rebooted ] || exit 1") < reboot
    (read,) = lift(objects_of(plan), closed=True).of(NodeClass)
    assert read == plan.of(NodeClass)[0]
    assert not read.own_kubelet


def test_nodes_of_a_managed_node_group_are_cut_by_the_same_commands() -> None:
    plan = plan_of(
        spec(pool={"gpuSharing": MIG, "nodes": 2, "managedNodeGroup": {}}, job={"nodes": 1})
    )
    (group,) = (group for group in plan.of(NodeGroup) if group.boot.mig)
    assert group.boot.mig == ("1g.5gb",) * 7
    assert group.labels["nvidia.com/device-plugin.config"] == "mig-mixed"
    (body,) = (
        manifest.body
        for manifest in objects_of(plan)
        if manifest.path.startswith("bootstrap/nodegroups/")
    )
    (command,) = body["managedNodeGroups"][0]["preBootstrapCommands"]
    script = f"#!/bin/bash\n{command}"  # as eksctl makes it
    done = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
    assert done.returncode == 0
    of_karpenter = body_of(objects_of(plan_of(shared(MIG))), "EC2NodeClass")
    assert script in of_karpenter["spec"]["userData"]
    (read,) = (
        node
        for node in lift(objects_of(plan), closed=True).of(NodeGroup)
        if node.name == group.name
    )
    assert read.boot.mig == group.boot.mig
    assert not read.own_kubelet


def test_commands_of_others_still_hide_what_a_node_of_a_group_has() -> None:
    plan = plan_of(
        spec(pool={"gpuSharing": MIG, "nodes": 2, "managedNodeGroup": {}}, job={"nodes": 1})
    )
    manifests = objects_of(plan)
    (body,) = (
        manifest.body for manifest in manifests if manifest.path.startswith("bootstrap/nodegroups/")
    )
    body["managedNodeGroups"][0]["preBootstrapCommands"].append("kubelet --max-pods=8")
    (read,) = (node for node in lift(manifests, closed=True).of(NodeGroup) if node.name == "gpu")
    assert read.boot.mig == ()
    assert read.own_kubelet


def test_user_data_of_others_still_hides_what_a_node_has() -> None:
    plan = plan_of(shared(MIG))
    manifests = objects_of(plan)
    body = body_of(manifests, "EC2NodeClass")
    body["spec"]["userData"] += "kubelet --max-pods=8\n"
    (read,) = lift(manifests, closed=True).of(NodeClass)
    assert read.own_kubelet


@pytest.mark.parametrize(
    ("sharing", "parameters", "fits"),
    [
        # A slice of 5 GB holds 2.5e9 parameters in bf16; a quarter of 40 GB four times as many.
        (MIG, 2.4e9, True),
        (MIG, 3e9, False),
        (TURNS, 5e9, True),
        (TURNS, 6e9, False),
    ],
)
def test_the_weights_must_fit_into_the_share(
    sharing: dict[str, Any], parameters: float, fits: bool
) -> None:
    faults = faults_of(shared(sharing, model={"parameters": parameters}))
    assert ("RES024" not in {fault.code for fault in faults}) is fits


def test_slices_of_a_profile_take_no_more_memory_than_the_gpu_has() -> None:
    catalog = load_catalog()
    cut = 0
    for name in catalog.instance_types:
        instance = catalog.instance(name)
        assert instance is not None
        for profile in profiles_of(instance):
            cut += 1
            assert profile.count * profile.eighths <= 8
            # The name's GB are those of the part, rounded.
            stated = int(profile.name.partition(".")[2].removesuffix("gb")) * 1024
            part = instance.accelerator_memory_mib * profile.eighths / 8
            assert 0.95 < stated / part < 1.09
            assert profile_of(instance, profile.name) == profile
    assert cut


def test_shares_have_one_name_in_the_flavor_of_each_pool() -> None:
    data = shared(MIG)
    data["spec"]["nodePools"].append(
        {**data["spec"]["nodePools"][0], "name": "turns", "gpuSharing": TURNS}
    )
    plan = plan_of({**data, "spec": {**data["spec"], "jobs": []}})
    names = {queue.name: queue.covered for queue in plan.of(ClusterQueue)}
    assert "nvidia.com/gpu.shared" in names["turns"]
    assert "nvidia.com/gpu.shared" not in names["gpu"]


def test_an_overlay_counts_pages_only_of_nodes_that_have_some() -> None:
    """Nodes without EFA set no huge pages aside."""
    small = {"instanceTypes": ["g5.2xlarge"], "efa": False, "gpuSharing": TURNS}
    data = spec(pool=small, job={"nodes": 1})
    (overlay,) = plan_of(data).of(NodeOverlay)
    assert overlay.capacity == {"nvidia.com/gpu.shared": Quantity.of(4)}


@pytest.mark.parametrize(
    ("sharing", "resource"), [(MIG, "nvidia.com/mig-1g.5gb"), (TURNS, "nvidia.com/gpu.shared")]
)
def test_the_ceiling_of_a_namespace_counts_shares(sharing: dict[str, Any], resource: str) -> None:
    """Without them a team that may have no accelerators got all shares."""
    data = shared(sharing)
    data["spec"]["namespaces"] = [{"name": "training", "quota": {"accelerators": 0}}]
    (quota,) = plan_of(data).of(ResourceQuota)
    assert {name: str(most) for name, most in quota.hard.items()} == {
        "requests.nvidia.com/gpu": "0",
        "requests.aws.amazon.com/neuron": "0",
        f"requests.{resource}": "0",
    }


@pytest.mark.parametrize("replicas", [2, 3, 4, 8, 16, 48])
@pytest.mark.parametrize(
    "name", ["g4dn.xlarge", "g5.xlarge", "g6.xlarge", "g6.4xlarge", "p4d.24xlarge"]
)
def test_as_many_jobs_run_as_a_node_has_shares(name: str, replicas: int) -> None:
    """Of a node of 3 CPUs each of 8 shares is less than one: with a whole one each, three jobs ran on eight shares."""
    data = shared({"timeSlicing": {"replicas": replicas}})
    (pool,) = data["spec"]["nodePools"]
    pool["instanceTypes"] = [name]
    (queue,) = plan_of(data).of(ClusterQueue)
    (flavor,) = queue.flavors()
    requests = job_of(data).requests
    shares = flavor.of("nvidia.com/gpu.shared")
    assert shares is not None
    for resource in ("cpu", "memory"):
        quota = flavor.of(resource)
        assert quota is not None
        assert Quantity(0) < requests[resource] * shares.nominal.value <= quota.nominal
