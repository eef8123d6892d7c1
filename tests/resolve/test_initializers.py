"""Trainer's initializers: what a job downloads before its nodes start, where to, and back."""

from __future__ import annotations

from itertools import starmap
from typing import Any

import pytest
from builders import (
    FSX,
    body_of,
    job_of,
    manifests_of,
    objects_of,
    plan_of,
    resolved,
    shape_faults,
    spec,
)
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.lift import lift
from trainyard.output.manifest import ObjectRef
from trainyard.verify import verify

MODEL = {"storageUri": "hf://meta-llama/Llama-3.2-1B", "secret": "hf-token"}
DATASET = {"storageUri": "s3://team-data/alpaca", "env": {"REGION": "us-west-2"}}
BOTH: dict[str, Any] = {"initializer": {"dataset": DATASET, "model": MODEL}}
LUSTRE = {"name": "scratch", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}
BUCKET = {"name": "bucket", "s3": {"existing": {"bucket": "team-data"}}}
MOUNTS = [{"storage": "scratch", "path": "/data"}]
MPI: dict[str, Any] = {"launcher": {"mpi": {}}, "command": ["mpirun", "python", "t.py"]}


def whole(**job: Any) -> dict[str, Any]:
    return spec(job={"mounts": MOUNTS, **BOTH, **job}, storage=[LUSTRE, BUCKET])


def replicated(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    body = body_of(manifests_of(data), "ClusterTrainingRuntime")
    return {job["name"]: job for job in body["spec"]["template"]["spec"]["replicatedJobs"]}


@pytest.mark.parametrize("launcher", [{}, MPI], ids=["torchrun", "mpi"])
class TestEveryLauncher:
    def test_what_is_written_reads_back(self, launcher: dict[str, Any]) -> None:
        plan = plan_of(whole(**launcher))
        lifted = lift(objects_of(plan), closed=True)
        assert lifted.of(TrainJob) == plan.of(TrainJob)
        assert lifted.of(Runtime) == plan.of(Runtime)

    def test_what_is_written_is_sound(self, launcher: dict[str, Any]) -> None:
        plan = plan_of(whole(**launcher))
        external = frozenset(starmap(ObjectRef, plan.external))
        assert verify(objects_of(plan), external=external) == []

    def test_nodes_start_when_all_is_downloaded(self, launcher: dict[str, Any]) -> None:
        jobs = replicated(whole(**launcher))
        assert list(jobs)[:2] == ["dataset-initializer", "model-initializer"]
        assert jobs["node"]["dependsOn"] == [
            {"name": "dataset-initializer", "status": "Complete"},
            {"name": "model-initializer", "status": "Complete"},
        ]

    def test_all_share_a_folder_of_the_job(self, launcher: dict[str, Any]) -> None:
        for job in replicated(whole(**launcher)).values():
            pod = job["template"]["spec"]["template"]["spec"]
            assert {
                "name": "initializer",
                "persistentVolumeClaim": {"claimName": "scratch"},
            } in pod["volumes"]
            (container,) = pod["containers"]
            assert {
                "name": "initializer",
                "mountPath": "/workspace",
                "subPath": "initializer-train",
            } in container["volumeMounts"]


def test_the_job_says_what_is_downloaded() -> None:
    body = body_of(manifests_of(whole()), "TrainJob")
    assert body["spec"]["initializer"] == {
        "dataset": {
            "storageUri": "s3://team-data/alpaca",
            "env": [{"name": "REGION", "value": "us-west-2"}],
        },
        "model": {"storageUri": "hf://meta-llama/Llama-3.2-1B", "secretRef": {"name": "hf-token"}},
    }


def test_its_secret_must_exist() -> None:
    assert ("v1", "Secret", "training", "hf-token") in plan_of(whole()).external


def test_the_quota_has_room_for_them() -> None:
    """Kueue counts the pods of a TrainJob together: with whole nodes beside initializers the job never started."""
    job, alone = job_of(whole()), job_of(spec())
    assert alone.requests["cpu"].value - job.requests["cpu"].value == 4
    gib = 1024**3
    less = alone.requests["memory"].value - job.requests["memory"].value
    assert less == 16 * gib


def test_another_download_is_another_run() -> None:
    other = {"initializer": {"dataset": DATASET}}
    assert job_of(whole()).name != job_of(whole(**other)).name


@pytest.mark.parametrize(
    ("job", "code", "at"),
    [
        ({"mounts": []}, "RES165", "initializer"),
        ({"mounts": [{**MOUNTS[0], "readOnly": True}]}, "RES165", "initializer"),
        ({"mounts": [{"storage": "bucket", "path": "/data"}]}, "RES165", "initializer"),
        ({"initializer": {"model": MODEL, "storage": "bucket"}}, "RES165", "initializer.storage"),
        ({"kind": "PyTorchJob"}, "RES166", "initializer"),
        ({"mounts": [{"storage": "scratch", "path": "/workspace/"}]}, "RES031", "mounts[0].path"),
    ],
)
def test_a_download_that_nobody_reads_is_an_error(job: dict[str, Any], code: str, at: str) -> None:
    faults = [fault for fault in resolved(whole(**job))[1] if fault.code == code]
    assert [str(fault.at) for fault in faults] == [f"spec.jobs[0].{at}"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"model": {"storageUri": "meta-llama/Llama-3.2-1B"}},
        {"model": {"storageUri": "cache://team/data"}},
        {"model": {"storageUri": "hf://llama"}},
    ],
)
def test_what_no_initializer_reads_is_refused(given: dict[str, Any]) -> None:
    (fault,) = shape_faults(spec(job={"initializer": given}))
    assert fault.code == "SPC005"


def test_they_run_on_the_pools_of_the_job_where_labels_of_pools_differ() -> None:
    """A queue with a pool of one NodePool and one of several: a flavor of either would take pods without affinity."""
    split = {
        "name": "blocks",
        "instanceTypes": ["p5.48xlarge"],
        "zones": ["us-west-2b"],
        "nodes": 4,
        "capacity": {
            "reserved": {
                "reservations": [
                    {"id": "cr-0a1b2c3d4e5f60718", "nodes": 2},
                    {"id": "cr-0a1b2c3d4e5f60719", "nodes": 2},
                ]
            }
        },
    }
    data = whole(queue="all", pool="gpu")
    data["spec"]["nodePools"].append(split)
    data["spec"]["queues"] = [
        {
            "name": "all",
            "namespaces": ["training"],
            "quota": [{"pool": "blocks", "nodes": 4}, {"pool": "gpu", "nodes": 4}],
        }
    ]
    pods = {job.name: job.pod for job in plan_of(data).of(Runtime)[0].jobs}
    nodes = pods.pop("node")
    assert nodes.pools
    assert len(pods) == 2
    for pod in pods.values():
        assert (pod.pools, pod.node_selector) == (nodes.pools, {})
        assert pod.tolerations == nodes.tolerations


def test_they_ask_for_any_node_of_a_topology() -> None:
    pool = {"nodes": 4, "topology": "network"}
    data = spec(pool=pool, job={"mounts": MOUNTS, **BOTH}, storage=[LUSTRE])
    pods = {job.name: job.pod for job in plan_of(data).of(Runtime)[0].jobs}
    asked = "kueue.x-k8s.io/podset-unconstrained-topology"
    assert asked not in pods["node"].annotations
    assert pods["dataset-initializer"].annotations[asked] == "true"
    plain = {job.name: job.pod for job in plan_of(whole()).of(Runtime)[0].jobs}
    assert asked not in plain["dataset-initializer"].annotations
