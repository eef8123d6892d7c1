"""What HyperPod cannot do is an error at the line of the spec, and nothing is dropped in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import document
from schemas import committed
from trainyard.core.cloud.plan import PlacementGroupStack
from trainyard.eks.cluster.plan import PlacementGroup
from trainyard.extensions.hyperpod import PLATFORM as HYPER_POD
from trainyard.extensions.hyperpod.differences import INSTEAD
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Document
from trainyard.run.language.load import platform_of
from trainyard.run.language.whole import language
from trainyard.run.platforms import EKS

from tests.platforms.hyperpod.clusters import NETWORK, PLAN, spec
from tests.platforms.passes import codes, compiled, leads


@pytest.mark.parametrize("path", INSTEAD)
def test_every_key_that_is_refused_is_one_of_the_language(path: str) -> None:
    root = language(EKS).model_fields["spec"].annotation
    assert root is not None
    assert leads(root, path.split("."))


def test_a_spec_may_say_what_its_cluster_of_eks_is() -> None:
    assert platform_of(_document({"hyperPod": {}, "eks": {}})) is HYPER_POD
    assert platform_of(_document({"eks": {}, "hyperPod": {}})) is HYPER_POD
    assert platform_of(_document({"eks": {}})) is EKS


def _document(platform: dict[str, Any]) -> Document:
    return document(spec(platform=platform))


@pytest.mark.slow
def test_editors_take_no_two_platforms_that_stand_apart() -> None:
    """`hyperPod` with `eks` is one, `parallelCluster` with any other is none."""
    for platform, is_one in (
        ({"hyperPod": {}}, True),
        ({"hyperPod": {}, "eks": {}}, True),
        ({"parallelCluster": {}, "eks": {}}, False),
        ({"parallelCluster": {}, "hyperPod": {}}, False),
    ):
        faults = [
            fault
            for fault in committed().iter_errors(spec(platform=platform))
            if list(fault.absolute_path) == ["spec", "platform"]
        ]
        assert (not faults) is is_one, platform


_CAPACITY = {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}
_OTHER = PLAN.replace("us-west-2", "us-east-1")
_MANY = [
    {
        "id": f"subnet-0a1b2c3d4e5f607{number}",
        "zone": f"us-west-2{'ab'[number % 2]}",
        "cidr": f"10.0.{number}.0/24",
    }
    for number in range(10, 27)
]
_QUEUES = [{"name": "q", "namespaces": ["team-a"], "quota": [{"pool": "a100", "nodes": 4}]}]


@pytest.mark.parametrize(
    ("code", "at", "parts"),
    [
        (
            "RES320",
            "spec.nodePools[0].instanceTypes[0]",
            {"pool": {"instanceTypes": ["p3dn.24xlarge"]}},
        ),
        ("RES320", "spec.nodePools[0].nodes", {"pool": {"nodes": {"max": 4}}}),
        (
            "RES320",
            "spec.nodePools[0].instanceTypes[1]",
            {"pool": {"instanceTypes": ["p4d.24xlarge", "p4de.24xlarge"]}, "job": {"nodes": 1}},
        ),
        (
            "RES320",
            "spec.nodePools[0].capacity[1]",
            {"pool": {"capacity": [{"spot": {}}, {"onDemand": {}}]}, "job": {"nodes": 1}},
        ),
        ("RES321", "spec.jobs[0]", {"queues": None, "job": {"queue": None}}),
        ("RES321", "spec.queues[0].namespaces[0]", {"queues": _QUEUES}),
        ("RES321", "spec.jobs[0].namespace", {"queues": _QUEUES, "job": {"namespace": "team-a"}}),
        (
            "RES458",
            "spec.jobs[0].retries",
            {"own": {"nodeRecovery": "None"}, "job": {"retries": 2}},
        ),
        ("RES322", "spec.platform.eks.version", {"eks": {"version": "1.35"}}),
        ("RES323", "spec.platform.hyperPod", {"network": None}),
        (
            "RES323",
            "spec.network.existing.securityGroups",
            {
                "network": {
                    "existing": {
                        **NETWORK["existing"],
                        "securityGroups": [f"sg-0a1b2c3d4e5f6071{digit}" for digit in range(5)],
                    }
                }
            },
        ),
        (
            "RES323",
            "spec.network.existing.subnets",
            {"network": {"existing": {**NETWORK["existing"], "subnets": _MANY}}},
        ),
        (
            "RES325",
            "spec.platform.hyperPod.trainingPlans.a100",
            {"own": {"trainingPlans": {"a100": _OTHER}}},
        ),
        (
            "RES325",
            "spec.platform.hyperPod.trainingPlans.h100",
            {"own": {"trainingPlans": {"h100": PLAN}}},
        ),
        (
            "RES325",
            "spec.platform.hyperPod.trainingPlans.a100",
            {"own": {"trainingPlans": {"a100": PLAN}}, "pool": {"capacity": {"spot": {}}}},
        ),
        (
            "SPC005",
            "spec.platform.hyperPod.trainingPlans.a100",
            {"own": {"trainingPlans": {"a100": "p4-december"}}},
        ),
        ("SPC006", "spec.health", {"health": {"nodeRepair": False}}),
        ("SPC006", "spec.network.create", {"network": {"create": {"cidr": "10.0.0.0/16"}}}),
        ("SPC006", "spec.platform.eks.autoMode", {"eks": {"autoMode": {}}}),
        ("SPC006", "spec.nodePools[0].burnIn", {"pool": {"burnIn": {}}}),
        (
            "SPC006",
            "spec.nodePools[0].capacity.reserved",
            {"pool": {"capacity": {"reserved": _CAPACITY}}},
        ),
        ("SPC006", "spec.nodePools[0].consolidateAfter", {"pool": {"consolidateAfter": "1h"}}),
        ("SPC006", "spec.nodePools[0].placement", {"pool": {"placement": "cluster"}}),
        (
            "SPC006",
            "spec.nodePools[0].rootVolume.iops",
            {"pool": {"rootVolume": {"size": "500Gi", "iops": 6000}}},
        ),
    ],
)
def test_what_it_cannot_do_is_an_error_at_its_place(
    code: str, at: str, parts: dict[str, Any], tmp_path: Path
) -> None:
    assert (code, at) in codes(spec(**parts), tmp_path)


def test_a_public_subnet_is_not_of_the_request(tmp_path: Path) -> None:
    subnets = [*_MANY[1:], {**_MANY[0], "public": True}]
    network = {"existing": {**NETWORK["existing"], "subnets": subnets}}
    assert codes(spec(network=network), tmp_path) == []


@pytest.mark.parametrize(
    ("type", "help"),
    [
        ("trn1.2xlarge", "write `trn1.32xlarge`"),
        ("c6i.metal", "take one of `c6i.12xlarge`, `c6i.16xlarge`, "),
        ("p3dn.24xlarge", "take a type of another family, like `g6.8xlarge` or `p5.48xlarge`"),
    ],
)
def test_what_to_take_instead_of_a_type_that_it_lacks(type: str, help: str, tmp_path: Path) -> None:
    found = compiled(spec(pool={"instanceTypes": [type]}, jobs=[]), tmp_path).diagnostics
    assert [fact.help[: len(help)] for fact in found if fact.code == "RES320"] == [help]


def test_more_pools_than_instance_groups(tmp_path: Path) -> None:
    data = spec()
    (pool,) = data["spec"]["nodePools"]
    data["spec"]["nodePools"] += [{**pool, "name": f"a100-{number}"} for number in range(100)]
    assert ("RES324", "spec.nodePools[100]") in codes(data, tmp_path)


def test_a_gang_that_is_larger_than_its_group_is_found_at_its_line(tmp_path: Path) -> None:
    assert ("LIM003", "spec.jobs[0].nodes") in codes(spec(job={"nodes": 5}), tmp_path)


def test_a_job_that_asks_for_more_than_a_node_has(tmp_path: Path) -> None:
    """8 CPUs and 32Gi of a g5.2xlarge, as a manifest that is copied a lot has it."""
    pool = {"instanceTypes": ["g5.2xlarge"], "zones": ["us-west-2a"]}
    job = {"resources": {"cpu": 8, "memory": "32Gi"}}
    found = codes(spec(pool=pool, job=job), tmp_path)
    assert any(at.startswith("spec.jobs[0].resources") for _, at in found), found


def test_a_region_that_is_not_known_to_have_it_is_a_warning(tmp_path: Path) -> None:
    """A Region may have come since the catalog was written."""
    place = "RES345", "spec.region"
    assert place in codes(spec(region="eu-west-3"), tmp_path)
    assert place not in codes(spec(), tmp_path)
    done = compiled(spec(region="eu-west-3"), tmp_path)
    [found] = [each for each in done.diagnostics if each.code == "RES345"]
    assert found.severity is Severity.WARNING


def _on_the_node(**volume: Any) -> dict[str, Any]:
    return spec(job={"volumes": [{"name": "cache", "path": "/cache", **volume}]})


def test_a_volume_on_nvme_disks_is_a_path_of_the_node(tmp_path: Path) -> None:
    """An emptyDir would lie on the root volume, with images and logs: the disks are mounted beside it."""
    (found,) = compiled(_on_the_node(nodeLocal={"size": "10Gi"}), tmp_path).diagnostics
    assert (found.code, str(found.at)) == ("RES060", "spec.jobs[0].volumes[0].nodeLocal")
    assert "pods of HyperPod lie on the root volume of a node" in found.message
    assert "mount a storage `ebs` with `each: pod`" in found.help
    assert "`hostPath: {path: /opt/dlami/nvme}`" in found.help


def test_what_stands_in_for_a_volume_on_nvme_disks_is_taken(tmp_path: Path) -> None:
    storage = [{"name": "scratch", "ebs": {"create": {"each": "pod", "size": "10Gi"}}}]
    mounts = [{"storage": "scratch", "path": "/cache"}]
    assert (
        codes(
            spec(
                storage=storage,
                job={"mounts": mounts, "checkpoint": None, "retries": 0, "timeout": "1h"},
            ),
            tmp_path,
        )
        == []
    )
    followed = _on_the_node(hostPath={"path": "/opt/dlami/nvme"})
    followed["spec"]["namespaces"] = [{"name": "hyperpod-ns-research", "podSecurity": "privileged"}]
    assert codes(followed, tmp_path) == [("RUN052", "spec.jobs[0].volumes[0]")]


@pytest.mark.parametrize(
    "data",
    [
        _on_the_node(emptyDir={"sizeLimit": "9Ti"}),
        spec(job={"resources": {"ephemeralStorage": "9Ti"}}),
    ],
    ids=["a volume", "a request"],
)
def test_how_large_the_root_volume_is_nobody_says(data: dict[str, Any], tmp_path: Path) -> None:
    """SageMaker API, ClusterEbsVolumeConfig: "The size of the root volume is determined for you"."""
    assert codes(data, tmp_path) == []


def test_hyperpod_places_instances_itself(tmp_path: Path) -> None:
    """No placement group is made that no node is in, and nothing is derived at a key that HyperPod does not take."""
    made = compiled(spec(), tmp_path)
    assert made.plan.of(PlacementGroup) == made.plan.of(PlacementGroupStack) == ()
    derived = {(each.object, each.field) for each in made.plan.derived}
    assert ("pool/a100", "efa") in derived
    assert not {("pool/a100", "placement"), ("cluster", "platform.eks.ami")} & derived
