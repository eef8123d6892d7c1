"""Pools of managed node groups: what eksctl is given, what jobs bind to, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import body_of, faults_of, files, objects_of, plan_of, shape_faults, spec
from running import Command
from trainyard.catalog import load_catalog
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.health.plan import ProblemDetector
from trainyard.eks.jobs.plan import Runtime
from trainyard.eks.kueue.plan import Flavor
from trainyard.eks.nodes.plan import NodeClass, NodeGroup, NodePool
from trainyard.judge.model.reading import Reading
from trainyard.lift import lift
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify.formats import Setting, lifted, verified

BLOCK = {
    "block": {
        "reservations": [
            {"id": "cr-0a1b2c3d4e5f60718", "nodes": 2},
            {"id": "cr-0a1b2c3d4e5f60719", "nodes": 2},
        ]
    }
}


def grouped(**pool: Any) -> dict[str, Any]:
    return spec(pool={"nodes": 4, "managedNodeGroup": {}, **pool})


def configs(plan: Plan) -> dict[str, dict[str, Any]]:
    """The group of each file, by path."""
    return {
        artifact.path: artifact.body["managedNodeGroups"][0]
        for artifact in lower(plan)
        if artifact.path.startswith("bootstrap/nodegroups/")
    }


def test_one_file_has_the_group_with_efa_and_no_karpenter_object_is_there() -> None:
    plan = plan_of(grouped(rootVolume={"size": "500Gi", "iops": 6000}))
    assert plan.of(NodePool) == plan.of(NodeClass) == ()
    group = configs(plan)["bootstrap/nodegroups/gpu.yaml"]
    assert group["efaEnabled"] is True
    assert group["placement"] == {"groupName": "lab-gpu"}
    sizes = group["minSize"], group["desiredCapacity"], group["maxSize"]
    assert sizes == (4, 4, 4)
    assert group["availabilityZones"] == ["us-west-2b"]
    assert (group["volumeType"], group["volumeIOPS"]) == ("gp3", 6000)
    assert group["nodeRepairConfig"] == {"enabled": True}
    config = json.loads(group["overrideBootstrapCommand"])
    assert config["spec"] == {"instance": {"localStorage": {"strategy": "RAID0"}}}


def test_each_block_is_a_group_of_its_own_launched_by_its_reservation() -> None:
    data = grouped(instanceTypes=["p5.48xlarge"], capacity=BLOCK)
    groups = configs(plan_of(data))
    assert list(groups) == [
        "bootstrap/nodegroups/gpu-cr-0a1b2c3d4e5f60718.yaml",
        "bootstrap/nodegroups/gpu-cr-0a1b2c3d4e5f60719.yaml",
    ]
    for path, group in groups.items():
        target = group["capacityReservation"]["capacityReservationTarget"]
        assert target["capacityReservationID"] in path
        assert group["instanceMarketOptions"] == {"marketType": "capacity-block"}
        assert group["desiredCapacity"] == 2
        assert group["labels"]["trainyard.dev/pool"] == "gpu"
        assert "placement" not in group


@pytest.mark.parametrize(
    "pool",
    [
        {},
        {"instanceTypes": ["p5.48xlarge"], "capacity": BLOCK},
        {"capacity": {"spot": {}}},
        {"localStorage": "none", "rootVolume": {"size": "400Gi", "throughput": 500}},
        {"managedNodeGroup": {"nodeRepairConfig": {"maxParallelNodesRepairedCount": 1}}},
    ],
)
def test_what_is_written_is_read_back_and_eksctl_takes_it(pool: dict[str, Any]) -> None:
    plan = plan_of(grouped(**pool))
    artifacts = list(lower(plan))
    read = lifted(artifacts, closed=True)
    assert read.of(NodeGroup) == plan.of(NodeGroup)
    eksctl = [artifact for artifact in artifacts if artifact.format == "eksctl"]
    assert len(eksctl) == 1 + len(plan.of(NodeGroup))
    assert verified(eksctl, Setting()) == []


def test_jobs_and_flavors_bind_by_the_label_of_the_pool() -> None:
    plan = plan_of(grouped())
    (flavor,) = plan.of(Flavor)
    assert flavor.node_labels == {"trainyard.dev/pool": "gpu"}
    (runtime,) = plan.of(Runtime)
    assert runtime.jobs[0].pod.node_selector == {"trainyard.dev/pool": "gpu"}
    (work,) = Reading(lifted(list(lower(plan)), closed=True), load_catalog()).works
    assert [pool.name for pool in work.pools] == ["gpu"]
    assert [instance.name for instance in work.types] == ["p4d.24xlarge"]


def test_a_job_may_name_it_beside_a_pool_of_karpenter() -> None:
    data = grouped()
    pool = data["spec"]["nodePools"][0]
    other = {**pool, "name": "more", "nodes": {"max": 4}}
    del other["managedNodeGroup"]
    data["spec"]["nodePools"].append(other)
    data["spec"]["namespaces"] = [{"name": "team-a"}]
    quota = [{"pool": "gpu", "nodes": 4}, {"pool": "more", "nodes": 4}]
    data["spec"]["queues"] = [{"name": "all", "namespaces": ["team-a"], "quota": quota}]
    data["spec"]["jobs"][0]["pool"] = ["gpu", "more"]
    plan = plan_of(data)
    (runtime,) = plan.of(Runtime)
    terms = [
        [(said.key, said.operator, said.values) for said in term]
        for term in runtime.jobs[0].pod.pools
    ]
    assert terms == [
        [("trainyard.dev/pool", "In", ("gpu",)), ("karpenter.sh/nodepool", "DoesNotExist", ())],
        [("karpenter.sh/nodepool", "In", ("more",)), ("trainyard.dev/pool", "DoesNotExist", ())],
    ]
    read = lift(objects_of(plan), closed=True)
    assert read.of(Runtime)[0].jobs[0].pod.pools == runtime.jobs[0].pod.pools
    (work,) = Reading(lifted(list(lower(plan)), closed=True), load_catalog()).works
    assert [choice.pools[0].name for choice in work.choices] == ["gpu", "more"]


def test_the_plugin_of_the_chart_is_not_the_one_that_eksctl_replaces() -> None:
    def values(data: dict[str, Any]) -> Any:
        name = "aws-efa-k8s-device-plugin"
        release = plan_of(data).named(HelmRelease, name, "flux-system")
        assert release is not None
        return release.values

    assert values(grouped())["fullnameOverride"] == "trainyard-efa-device-plugin"
    assert "fullnameOverride" not in values(spec())


def test_interfaces_of_eksctl_take_addresses() -> None:
    # A p5.48xlarge has 32 cards: with eksctl's layout 31 interfaces more have an address each, and card 0 has room for
    # two with 50 each.
    def doubts(data: dict[str, Any]) -> list[str]:
        data["spec"]["network"] = {"create": {"cidr": "10.0.0.0/20"}}
        return [fault.message for fault in faults_of(data) if fault.code == "RES151"]

    pool = {"instanceTypes": ["p5.48xlarge"], "nodes": 12}
    (by_karpenter,) = doubts(spec(pool=pool))
    (by_group,) = doubts(grouped(**pool))
    assert f"12 nodes take {12 * 50} " in by_karpenter
    assert f"12 nodes take {12 * (100 + 31)} " in by_group


def test_the_group_is_made_after_storage_and_flux() -> None:
    found = files(plan_of(grouped()))
    page = found["bootstrap/pools/gpu.md"]
    assert "bash generated/lab/bootstrap/up.sh --from nodes" in page
    script = found["bootstrap/up.sh"]
    assert script.index('"storage|') < script.index('"flux|') < script.index('"nodes|')
    assert script == files(plan_of(spec()))["bootstrap/up.sh"]


def test_a_threshold_is_a_count_or_a_percentage() -> None:
    config = {"maxUnhealthyNodeThresholdCount": 2, "maxUnhealthyNodeThresholdPercentage": 20}
    data = grouped(managedNodeGroup={"nodeRepairConfig": config})
    (fault,) = shape_faults(data)
    assert fault.code == "SPC005"
    assert str(fault.at).endswith("maxUnhealthyNodeThresholdPercentage")


def test_flux_reads_no_file_of_eksctl() -> None:
    plan = plan_of(grouped())
    body = body_of(objects_of(plan), "ResourceFlavor")
    assert body["spec"]["nodeLabels"] == {"trainyard.dev/pool": "gpu"}
    paths = [artifact.path for artifact in lower(plan)]
    assert all(path.startswith("bootstrap/") for path in paths if "nodegroups" in path)


def test_the_detector_comes_to_nodes_that_karpenter_did_not_launch() -> None:
    def selector(data: dict[str, Any]) -> dict[str, str]:
        (detector,) = plan_of(data).of(ProblemDetector)
        return dict(detector.node_selector)

    plan = plan_of(grouped())
    (group,) = plan.of(NodeGroup)
    assert selector(grouped()).items() <= dict(group.labels).items()
    assert list(selector(spec())) == ["karpenter.k8s.aws/instance-gpu-manufacturer"]


def test_nodes_of_a_group_find_how_their_gpus_are_shared() -> None:
    sharing = {"timeSlicing": {"replicas": 2}}
    data = spec(pool={"nodes": 4, "managedNodeGroup": {}, "gpuSharing": sharing}, job={"nodes": 1})
    (group,) = plan_of(data).of(NodeGroup)
    assert group.labels["nvidia.com/device-plugin.config"] == "time-slicing-2"
    assert not group.efa


@pytest.mark.slow
def test_lint_takes_the_groups_for_those_of_their_cluster(
    trainyard: Command, tmp_path: Path
) -> None:
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(grouped()))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    done = trainyard("lint", "generated", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")


def test_it_is_tagged_as_the_spec_says() -> None:
    """`eksctl create nodegroup` reads the tags of instances and volumes in the file that it is given."""
    data = grouped()
    data["spec"]["tags"] = {"cost-center": "research"}
    (file,) = (
        artifact.body
        for artifact in lower(plan_of(data))
        if artifact.path.startswith("bootstrap/nodegroups/")
    )
    assert file["metadata"]["tags"] == {"cost-center": "research"}


def test_it_starts_with_the_taint_of_an_agent_which_no_job_tolerates() -> None:
    """Cilium takes it off each node; for the rules it is no taint of the group."""
    data = grouped()
    data["spec"]["network"] = {"cilium": {}}
    plan = plan_of(data)
    taint = {"key": "node.cilium.io/agent-not-ready", "value": "true", "effect": "NoExecute"}
    assert taint in configs(plan)["bootstrap/nodegroups/gpu.yaml"]["taints"]
    again = lifted(list(lower(plan)), closed=True).of(NodeGroup)
    for group in (*plan.of(NodeGroup), *again):
        assert [each.key for each in group.startup_taints] == [taint["key"]]
        assert taint["key"] not in {each.key for each in group.taints}


def test_it_boots_no_family_but_amazon_linux() -> None:
    """The spec's `ami` of another family was dropped, and the nodes booted AL2023."""
    data = grouped()
    data["spec"]["platform"] = {"eks": {"ami": "bottlerocket@v1.40.0"}}
    found = [(each.code, str(each.at)) for each in faults_of(data)]
    assert ("RES172", "spec.nodePools[0].managedNodeGroup") in found
