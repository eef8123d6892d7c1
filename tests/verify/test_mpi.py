"""Runtimes of MPI as others write them: Trainer adds volumes to the pods of `node` and `launcher`."""

from __future__ import annotations

from typing import Any

from trainyard.output.manifest import Manifest
from trainyard.verify import verify


def replicated(name: str, volume: str) -> dict[str, Any]:
    """A replicated job that copies what Trainer mounts, as NVIDIA's own does (NVIDIA/aicr bc05c6b)."""
    copies = {
        "name": "copies",
        "image": "r.test/a:1",
        "volumeMounts": [{"name": volume, "mountPath": "/tmp/mpi"}],
    }
    pod = {"containers": [{"name": "node", "image": "r.test/a:1"}], "initContainers": [copies]}
    return {"name": name, "template": {"spec": {"template": {"spec": pod}}}}


def unknown(policy: dict[str, Any], *jobs: dict[str, Any]) -> list[str]:
    """What is said of volumes."""
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    jobs[-1]["template"]["metadata"] = {"labels": labels}
    body = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "mpi"},
        "spec": {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": list(jobs)}}},
    }
    faults = verify([Manifest(body)])
    return [fault.message for fault in faults if "volume" in fault.message]


def test_the_volumes_that_trainer_adds_are_known() -> None:
    jobs = replicated("node", "mpi-ssh-auth"), replicated("launcher", "mpi-hostfile")
    assert unknown({"mpi": {}}, *jobs) == []


def test_nodes_get_no_hosts() -> None:
    jobs = replicated("node", "mpi-hostfile"), replicated("launcher", "mpi-ssh-auth")
    assert unknown({"mpi": {}}, *jobs) == ["volume `mpi-hostfile` is not one of this pod"]


def test_another_policy_adds_none() -> None:
    job = replicated("node", "mpi-ssh-auth")
    assert unknown({"torch": {}}, job) == ["volume `mpi-ssh-auth` is not one of this pod"]
