"""EBS volumes: their classes, claims and snapshots, the driver's rights, and the caches of buckets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cfn_lint
import pytest
import yaml
from builders import files, objects_of, plan_of, spec
from running import Command
from trainyard.catalog.ebs import refusals
from trainyard.core.storage.plan import PersistentVolume, VolumeClaim, VolumeClass
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.nodes.plan import NodeClass
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify.formats import Setting, lifted, verified
from trainyard.verify.formats import written as artifact_bytes

KEY = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
OWN: dict[str, Any] = {
    "name": "scratch",
    "ebs": {"create": {"each": "pod", "size": "500Gi", "throughput": 500}},
}
KEPT: dict[str, Any] = {
    "name": "notes",
    "ebs": {
        "create": {
            "each": "namespace",
            "size": "200Gi",
            "kmsKey": KEY,
            "fileSystem": "xfs",
            "snapshots": {"everyHours": 12, "keep": 14},
        }
    },
}
BUCKET: dict[str, Any] = {
    "name": "datasets",
    "s3": {
        "existing": {"bucket": "datasets-111122223333"},
        "cache": {"size": "1Ti", "storage": "scratch"},
    },
}


def disks(**job: Any) -> dict[str, Any]:
    mounts = [
        {"storage": "scratch", "path": "/scratch"},
        {"storage": "datasets", "path": "/datasets"},
    ]
    return spec(storage=[OWN, KEPT, BUCKET], job={"mounts": mounts, **job})


def written(plan: Plan) -> dict[str, Any]:
    """The bodies of all objects, by path."""
    return {manifest.path: manifest.body for manifest in objects_of(plan)}


def alone() -> dict[str, Any]:
    mounts = [{"storage": "notes", "path": "/notes"}]
    return spec(storage=[KEPT], job={"nodes": 1, "mounts": mounts})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(disks())


def test_the_whole_of_it_is_clean(tmp_path: Path, trainyard: Command) -> None:
    for name, data in (("gang", disks()), ("one", alone())):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        done = trainyard("check", f"{name}.yaml", cwd=tmp_path)
        assert (done.code, done.out) == (0, "")


def test_no_object_has_a_fault(plan: Plan) -> None:
    artifacts = list(lower(plan))
    stacks = [each for each in artifacts if each.format == "cloudformation"]
    assert verified(stacks, Setting()) == []


def test_a_volume_of_each_pod_is_made_and_goes_with_it(plan: Plan) -> None:
    body = written(plan)["platform/storageclass-ebs-scratch.yaml"]
    assert body["reclaimPolicy"] == "Delete"
    assert body["volumeBindingMode"] == "WaitForFirstConsumer"
    assert "allowedTopologies" not in body
    job = plan.of(TrainJob)[0]
    volumes = {volume.name: volume for volume in job.patches[0].pod.volumes}
    own = volumes["scratch"]
    assert (own.type, own.source, str(own.size)) == ("ephemeral", "ebs-scratch", "500Gi")
    assert volumes["datasets"].type == "persistentVolumeClaim"


def test_a_volume_that_stays_is_in_one_zone_and_is_retained() -> None:
    plan = plan_of(alone())
    body = written(plan)["platform/storageclass-ebs-notes.yaml"]
    assert body["reclaimPolicy"] == "Retain"
    assert body["parameters"]["kmsKeyId"] == KEY
    assert body["parameters"]["csi.storage.k8s.io/fstype"] == "xfs"
    zones = body["allowedTopologies"][0]["matchLabelExpressions"][0]["values"]
    assert len(zones) == 1
    (claim,) = plan.of(VolumeClaim)
    assert (claim.volume, claim.access_modes) == ("", ("ReadWriteOnce",))
    assert plan.of(PersistentVolume) == ()


@pytest.mark.slow
def test_cfn_lint_finds_nothing_above_information(tmp_path: Path) -> None:
    """Snapshots by Data Lifecycle Manager, judged by cfn-lint of the development requirements."""
    stacks = [
        artifact
        for artifact in lower(plan_of(alone()))
        if artifact.path.startswith("bootstrap/stacks/")
    ]
    types = {
        resource["Type"] for artifact in stacks for resource in artifact.body["Resources"].values()
    }
    assert "AWS::DLM::LifecyclePolicy" in types
    for artifact in stacks:
        (tmp_path / Path(artifact.path).name).write_bytes(artifact_bytes(artifact))
    templates = sorted(tmp_path.glob("*.yaml"))
    assert cfn_lint.findings(templates, "--regions", "us-west-2") == ""


def test_flux_does_not_wait_for_a_claim_that_waits_for_a_pod() -> None:
    objects = written(plan_of(alone()))
    stage = objects["flux/kustomization-trainyard-disks.yaml"]["spec"]
    assert "wait" not in stage or stage["wait"] is False
    claims = [path for path in objects if "persistentvolumeclaim" in path]
    assert [path.split("/")[0] for path in claims] == ["disks"]


EXISTING: dict[str, Any] = {
    "name": "archive",
    "ebs": {
        "existing": {
            "id": "vol-0a1b2c3d4e5f60718",
            "zone": "us-west-2b",
            "size": "200Gi",
            "fileSystem": "xfs",
            "kmsKey": KEY,
        }
    },
}


def existing() -> dict[str, Any]:
    mounts = [{"storage": "archive", "path": "/archive"}]
    return spec(storage=[EXISTING], job={"nodes": 1, "mounts": mounts})


def test_a_volume_that_exists_is_mounted_by_its_id_in_its_zone() -> None:
    plan = plan_of(existing())
    bodies = written(plan)
    (volume,) = (body for path, body in bodies.items() if "/persistentvolume-" in path)
    source = volume["spec"]["csi"]
    assert source == {
        "driver": "ebs.csi.aws.com",
        "volumeHandle": "vol-0a1b2c3d4e5f60718",
        "fsType": "xfs",
    }
    assert volume["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    affinity = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert affinity == [
        {
            "matchExpressions": [
                {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-west-2b"]}
            ]
        }
    ]
    (claim,) = plan.of(VolumeClaim)
    assert (claim.volume, claim.access_modes) == (volume["metadata"]["name"], ("ReadWriteOnce",))
    assert plan.of(VolumeClass) == ()
    again = lifted(list(lower(plan)), closed=True)
    assert again.of(PersistentVolume) == plan.of(PersistentVolume)


def test_the_driver_comes_with_a_volume_that_exists_and_may_use_its_key() -> None:
    addons = {addon.name: addon for addon in plan_of(existing()).of(Cluster)[0].addons}
    driver = addons["aws-ebs-csi-driver"]
    assert all(statement["Resource"] == [KEY] for statement in driver.rights)
    assert driver.rights


@pytest.mark.slow
def test_a_volume_that_exists_compiles_and_stays(tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(existing(), sort_keys=False))
    done = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    (page,) = tmp_path.glob("generated/*/bootstrap/storage/archive.md")
    text = page.read_text()
    assert "describe-volumes" in text
    assert "stays: the EBS volume vol-0a1b2c3d4e5f60718" in text
    assert "delete" not in text.replace("Nothing here deletes it", "")


def test_a_size_that_changes_is_another_run() -> None:
    first = plan_of(disks()).of(TrainJob)[0].name
    larger = disks()
    larger["spec"]["storage"][0] = {
        "name": "scratch",
        "ebs": {"create": {**OWN["ebs"]["create"], "size": "600Gi"}},
    }
    assert plan_of(larger).of(TrainJob)[0].name != first


def test_classes_and_volumes_are_read_back(plan: Plan) -> None:
    again = lifted(list(lower(plan)), closed=True)
    assert again.of(VolumeClass) == plan.of(VolumeClass)
    jobs = [job.patches[0].pod.volumes for job in again.of(TrainJob)]
    assert jobs == [job.patches[0].pod.volumes for job in plan.of(TrainJob)]
    (ours,), (theirs,) = plan.of(Cluster), again.of(Cluster)
    assert ours.addons == theirs.addons


def test_the_driver_may_use_just_the_keys_of_the_spec(plan: Plan) -> None:
    addons = {addon.name: addon for addon in plan.of(Cluster)[0].addons}
    driver = addons["aws-ebs-csi-driver"]
    assert all(statement["Resource"] == [KEY] for statement in driver.rights)
    without = plan_of(spec(storage=[OWN])).of(Cluster)[0].addons
    assert [each.rights for each in without if each.name == driver.name] == [()]
    assert "ebs" not in json.dumps([each.name for each in plan_of(spec()).of(Cluster)[0].addons])


def test_snapshots_are_of_the_volumes_of_the_storage(plan: Plan) -> None:
    stack = files(plan)["bootstrap/stacks/snapshots-notes.yaml"]
    details = stack["Resources"]["Policy"]["Properties"]["PolicyDetails"]
    tag = written(plan)["platform/storageclass-ebs-notes.yaml"]["parameters"]
    (target,) = details["TargetTags"]
    assert tag["tagSpecification_1"] == f"{target['Key']}={target['Value']}"
    assert details["Schedules"][0]["RetainRule"] == {"Count": 14}


@pytest.mark.parametrize(
    ("cache", "attributes"),
    [
        ({"size": "1Ti"}, {"cache": "emptyDir", "cacheEmptyDirSizeLimit": "1Ti"}),
        (
            {"size": "1Ti", "storage": "scratch"},
            {
                "cache": "ephemeral",
                "cacheEphemeralStorageClassName": "ebs-scratch",
                "cacheEphemeralStorageResourceRequest": "1Ti",
            },
        ),
    ],
)
def test_the_cache_of_a_bucket(cache: dict[str, str], attributes: dict[str, str]) -> None:
    data = disks()
    data["spec"]["storage"][2] = {
        "name": "datasets",
        "s3": {"existing": {"bucket": "datasets-111122223333"}, "cache": cache},
    }
    (volume,) = plan_of(data).of(PersistentVolume)
    assert volume.attributes == {"bucketName": "datasets-111122223333", **attributes}


@pytest.mark.parametrize(
    ("size", "iops", "throughput", "field"),
    [
        (1, None, None, ""),
        (65536, 80000, 2000, ""),
        (6, 3000, 750, ""),
        (65537, None, None, "size"),
        (500, 2999, None, "iops"),
        (500, None, 124, "throughput"),
        (10, 5001, None, "iops"),
        (500, 3000, 751, "throughput"),
    ],
)
def test_what_ebs_refuses(size: int, iops: int | None, throughput: int | None, field: str) -> None:
    fields = [refusal.field for refusal in refusals(size, iops, throughput)]
    assert fields == ([field] if field else [])


@pytest.mark.slow
@pytest.mark.parametrize("tags", [{}, {"team": "research", "cost-center": "42"}])
def test_the_driver_tags_what_it_makes(
    tags: dict[str, str], tmp_path: Path, trainyard: Command
) -> None:
    """Also the volumes of monitoring, whose StorageClass could not change with the tags."""
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec(tags=tags, monitoring={})))
    assert trainyard("compile", "lab.yaml", cwd=tmp_path).code == 0
    made = yaml.safe_load((tmp_path / "generated/lab/bootstrap/eksctl.yaml").read_text())
    (driver,) = (addon for addon in made["addons"] if addon["name"] == "aws-ebs-csi-driver")
    configured = json.loads(driver.get("configurationValues", "{}"))
    assert configured.get("controller", {}).get("extraVolumeTags", {}) == tags


def test_bottlerocket_has_images_and_pods_on_a_second_disk() -> None:
    """Karpenter makes it of 20 GiB where a class maps the first alone (v1.14.1, amifamily/bottlerocket.go)."""
    data = spec(pool={"localStorage": "none", "rootVolume": {"size": "500Gi"}})
    data["spec"]["platform"] = {"eks": {"ami": "bottlerocket@v1.40.0"}}
    (node_class,) = plan_of(data).of(NodeClass)
    sizes = [(disk.device, str(disk.size)) for disk in node_class.block_devices]
    assert sizes == [("/dev/xvdb", "500Gi"), ("/dev/xvda", "4Gi")]


@pytest.mark.parametrize("ami", ["al2@v20251209", "windows2022@latest"])
def test_a_family_whose_disks_are_not_known_has_the_one_of_al2023(ami: str) -> None:
    data = spec(pool={"localStorage": "none", "rootVolume": {"size": "500Gi"}})
    data["spec"]["platform"] = {"eks": {"ami": ami}}
    (node_class,) = plan_of(data).of(NodeClass)
    assert [disk.device for disk in node_class.block_devices] == ["/dev/xvda"]
