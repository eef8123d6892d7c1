"""Runs that were submitted, held against the room that nodes have after an edit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import dumped, spec
from running import Command
from trainyard.catalog import load_catalog
from trainyard.eks.jobs.kinds import kinds

from history.folder import compiled

pytestmark = pytest.mark.slow

POOL: dict[str, Any] = {"instanceTypes": ["p5.48xlarge"], "zones": ["us-west-2a"], "nodes": 40}
PLATFORM = {
    "eks": {
        "apiServer": {"public": ["203.0.113.0/24"]},
        "systemNodes": {"instanceType": "m7g.8xlarge"},
    }
}
OWN = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: own, namespace: kube-system}
spec:
  selector: {matchLabels: {app: own}}
  template:
    metadata: {labels: {app: own}}
    spec:
      tolerations: [{operator: Exists}]
      nodeSelector: {karpenter.sh/nodepool: POOL}
      containers: [{name: own, image: registry.test/own:1.0, resources: {requests: {cpu: 20m, memory: 2Gi}}}]
"""
AGENT = {"nodeAgent": {"resources": {"requests": {"memory": "3Gi"}, "limits": {"memory": "3Gi"}}}}
EDITS: dict[str, dict[str, Any]] = {
    "monitoring": {"monitoring": {}},
    "logs": {"logs": {"loki": {}}, "monitoring": {}},
    "values": {"components": {"eks-node-monitoring-agent": {"values": AGENT}}},
    "included": {"include": ["own.yaml"]},
}
LUSTRE = {
    "name": "scratch",
    "fsxLustre": {
        "existing": {
            "id": "fs-0a1b2c3d4e5f60711",
            "mountName": "abcdefgh",
            "size": "4800Gi",
            "throughputPerTiB": 250,
            "version": "2.15",
            "zone": "us-west-2a",
        }
    },
}
MEMORY = {"requests": {"memory": "3Gi"}, "limits": {"memory": "3Gi"}}


def _patched(kind: str, name: str, patch: Any) -> dict[str, Any]:
    return {"patches": [{"target": {"kind": kind, "name": name}, "patch": patch}]}


def _addon(name: str, values: dict[str, Any]) -> dict[str, Any]:
    eks = {**PLATFORM["eks"], "addons": {name: {"values": values}}}
    return {"platform": {"eks": eks}}


WAYS: dict[str, dict[str, Any]] = {
    "values of an EKS add-on": _addon("vpc-cni", {"nodeAgent": {"resources": MEMORY}}),
    "values of all of its containers": _addon("vpc-cni", {"resources": MEMORY}),
    "values of one whose requests nobody publishes": _addon("kube-proxy", {"resources": MEMORY}),
    "an EKS add-on": _addon("amazon-cloudwatch-observability", {"agent": {"resources": MEMORY}}),
    "values of a CSI driver": {
        "components": {"aws-fsx-csi-driver": {"values": {"node": {"resources": MEMORY}}}}
    },
    "values of its sidecar": {
        "components": {
            "aws-fsx-csi-driver": {"values": {"sidecars": {"livenessProbe": {"resources": MEMORY}}}}
        }
    },
    "a patch of a DaemonSet": _patched(
        "DaemonSet",
        "node-problem-detector",
        {
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "node-problem-detector", "resources": MEMORY}]}
                }
            }
        },
    ),
    "a container more in a DaemonSet": _patched(
        "DaemonSet",
        "node-problem-detector",
        [
            {
                "op": "add",
                "path": "/spec/template/spec/containers/-",
                "value": {"name": "more", "image": "registry.test/more:1.0", "resources": MEMORY},
            }
        ],
    ),
    "a patch of a release": _patched(
        "HelmRelease",
        "eks-node-monitoring-agent",
        {"spec": {"values": {"nodeAgent": {"resources": MEMORY}}}},
    ),
}
"""More ways in which an edit takes room on nodes than ``EDITS``, each tried with one kind of job."""
COMMANDS = {
    "MPIJob": {"launcher": {"mpi": {}}, "command": ["mpirun", "python", "t.py"]},
    "RayJob": {"command": ["python", "t.py"]},
    "Job": {"command": ["python", "t.py"]},
}


def of(kind: str, **job: Any) -> dict[str, Any]:
    """A spec with one job of a kind."""
    return spec(
        pool=POOL,
        job={"kind": kind, "nodes": 2, **COMMANDS.get(kind, {}), **job},
        platform=PLATFORM,
    )


def stranded(folder: Path, trainyard: Command, data: dict[str, Any]) -> list[dict[str, Any]]:
    """What `check` says of room."""
    (folder / "spec.yaml").write_text(dumped(data))
    done = trainyard("check", "spec.yaml", "--format", "json", cwd=folder)
    found: list[dict[str, Any]] = json.loads(done.out)["diagnostics"]
    assert not [each for each in found if each["severity"] == "error"], done.out
    return [each for each in found if each["code"] == "CHG047"]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", [each.name for each in kinds().values()])
def test_what_takes_room_on_nodes_is_held_against_runs(
    kind: str, edit: str, tmp_path: Path, trainyard: Command
) -> None:
    if kind == "HyperPodPyTorchJob":
        pytest.skip("not of EKS")
    (tmp_path / "own.yaml").write_text(OWN.replace("POOL", "gpu"))
    data = of(kind)
    assert compiled(tmp_path, trainyard, data).code == 0
    assert stranded(tmp_path, trainyard, data) == []
    edited = {**data, "spec": {**data["spec"], **EDITS[edit]}}
    (found,) = stranded(tmp_path, trainyard, edited)
    assert found["severity"] == "warning"
    assert "of memory a node, and nodes of pool `gpu` now have" in found["message"]
    assert "`rerun: 1`" in found["help"]
    assert compiled(tmp_path, trainyard, edited).code == 0
    assert "warning[CHG047]" in trainyard("compile", "spec.yaml", "--check", cwd=tmp_path).out
    said = trainyard("simulate", "spec.yaml", cwd=tmp_path).out
    # Ray's head can go to a node of its own: then the job has one more.
    more = "FITS  3 nodes" if kind == "RayJob" else "FITS ONLY IF `gpu` has room for"
    assert more in said
    again = {
        **edited,
        "spec": {**edited["spec"], "jobs": [{**edited["spec"]["jobs"][0], "rerun": 1}]},
    }
    # Of the pods of Ray each fits alone.
    left = [each["help"] for each in stranded(tmp_path, trainyard, again)]
    assert len(left) == (kind != "RayJob")
    assert all("it has no job any more" in each for each in left)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_take_room_is_held_against_runs(
    way: str, tmp_path: Path, trainyard: Command
) -> None:
    data = of("TrainJob", mounts=[{"storage": "scratch", "path": "/scratch"}])
    data["spec"]["storage"] = [LUSTRE]
    assert compiled(tmp_path, trainyard, data).code == 0
    assert stranded(tmp_path, trainyard, data) == []
    edited = {**data, "spec": {**data["spec"], **WAYS[way]}}
    (found,) = stranded(tmp_path, trainyard, edited)
    assert "of memory a node, and nodes of pool `gpu` now have" in found["message"]


def test_a_step_of_the_release_leaves_runs_their_room(tmp_path: Path, trainyard: Command) -> None:
    """DaemonSets of all releases are kept free of each node, so a step takes nothing; if one ever does, it is said."""
    data = of("TrainJob")
    names = list(load_catalog().releases)
    assert len(names) > 1
    for index, release in enumerate(names):
        of_release = {**data, "spec": {**data["spec"], "release": release}}
        folder = tmp_path / release
        folder.mkdir()
        assert compiled(folder, trainyard, of_release).code == 0
        for later in names[index + 1 :]:
            stepped = {**data, "spec": {**data["spec"], "release": later}}
            assert stranded(folder, trainyard, stepped) == []
            taking = {**data, "spec": {**stepped["spec"], **WAYS["values of an EKS add-on"]}}
            assert len(stranded(folder, trainyard, taking)) == 1


def test_a_patch_of_agents_of_other_nodes_takes_no_room(tmp_path: Path, trainyard: Command) -> None:
    """Only nodes of one type have a GPU, and with it the device plugin."""
    data = of("TrainJob", pool="gpu")
    data["spec"]["nodePools"].append(
        {"name": "cpu", "instanceTypes": ["m7i.8xlarge"], "zones": ["us-west-2a"], "nodes": 2}
    )
    shard = {"name": "shard", "kind": "Job", "pool": "cpu", "command": ["python", "s.py"]}
    data["spec"]["jobs"].append({**data["spec"]["jobs"][0], **shard})
    assert compiled(tmp_path, trainyard, data).code == 0
    patch = {"spec": {"values": {"resources": MEMORY}}}
    edited = {
        **data,
        "spec": {**data["spec"], **_patched("HelmRelease", "nvidia-device-plugin", patch)},
    }
    assert [each["message"].split("`")[3] for each in stranded(tmp_path, trainyard, edited)] == [
        "train"
    ]


def test_a_daemon_set_of_other_nodes_takes_no_room(tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "own.yaml").write_text(OWN.replace("POOL", "other"))
    data = of("TrainJob")
    assert compiled(tmp_path, trainyard, data).code == 0
    edited = {**data, "spec": {**data["spec"], **EDITS["included"]}}
    assert stranded(tmp_path, trainyard, edited) == []


def test_a_run_with_room_to_spare_is_not_spoken_of(tmp_path: Path, trainyard: Command) -> None:
    data = of("TrainJob", resources={"memory": "1000Gi", "cpu": 100})
    assert compiled(tmp_path, trainyard, data).code == 0
    edited = {**data, "spec": {**data["spec"], **EDITS["monitoring"]}}
    assert stranded(tmp_path, trainyard, edited) == []


def test_a_run_without_a_job_is_held_against_it_as_well(tmp_path: Path, trainyard: Command) -> None:
    """Its pods are noted when its job leaves the spec, and it holds its quota."""
    data = of("TrainJob")
    assert compiled(tmp_path, trainyard, data).code == 0
    second = {**data["spec"]["jobs"][0], "name": "second", "nodes": 39}
    without = {**data, "spec": {**data["spec"], "jobs": [second]}}
    assert compiled(tmp_path, trainyard, without).code == 0
    said = trainyard("simulate", "spec.yaml", cwd=tmp_path).out
    assert "second  WAITS FOR `train-" in said
    assert "runs that the spec no longer asks for hold their quota: `train-" in said
    edited = {**without, "spec": {**without["spec"], **EDITS["monitoring"]}}
    found = stranded(tmp_path, trainyard, edited)
    assert sorted(each["message"].split("`")[3] for each in found) == ["second", "train"]
