"""``debug`` makes a pod like those of a job, which only sleeps, and says how to get into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import spec
from running import SPECS, Command
from trainyard.extensions.operate.debug import LABEL
from trainyard.run.platforms import EKS

from operate.server import Cluster
from operate.test_status import cluster, lab

__all__ = ["cluster", "lab"]  # fixtures
pytestmark = pytest.mark.slow

JOBS = "/apis/batch/v1/namespaces/training/jobs"
QUEUE = "kueue.x-k8s.io/queue-name"


def printed(trainyard: Command, cwd: Path, *words: str) -> Any:
    done = trainyard("debug", *words, "--print", cwd=cwd)
    assert done.code == 0, done.err
    return yaml.safe_load(done.out)


def pod_of(job: Any) -> Any:
    return job["spec"]["template"]["spec"]


def test_what_the_job_sees_without_devices(trainyard: Command, lab: Path) -> None:
    body = printed(trainyard, lab, "train", "lab.yaml", "--minutes", "30")
    (runtime,) = lab.glob("generated/lab/queues/runtimes/*.yaml")
    template = yaml.safe_load(runtime.read_text())["spec"]["template"]["spec"]["replicatedJobs"]
    job = template[-1]["template"]["spec"]["template"]["spec"]
    pod = pod_of(body)
    for same in ("serviceAccountName", "nodeSelector", "tolerations", "priorityClassName"):
        assert pod[same] == job[same], same
    (container,) = pod["containers"]
    assert container["volumeMounts"] == job["containers"][0]["volumeMounts"]
    assert container["image"] == "registry.test/train:1.0"
    assert container["command"] == ["sleep", "1800"]
    assert body["spec"]["activeDeadlineSeconds"] == 1800
    assert body["spec"]["ttlSecondsAfterFinished"] == 300
    assert body["metadata"]["labels"] == {LABEL: "train"}
    assert set(container["resources"]["limits"]) == {"memory"}
    assert not [each for each in container.get("env", ()) if each["name"].startswith("PET_")]


def test_devices_come_from_the_queue_of_the_job(trainyard: Command, lab: Path) -> None:
    body = printed(trainyard, lab, "train", "lab.yaml", "--gpus", "2")
    (file,) = lab.glob("generated/lab/jobs/*.yaml")
    job = yaml.safe_load(file.read_text())
    assert body["metadata"]["labels"][QUEUE] == job["metadata"]["labels"][QUEUE]
    resources = pod_of(body)["containers"][0]["resources"]
    assert resources["requests"] == resources["limits"]
    whole = job["spec"]["trainer"]["resourcesPerNode"]["limits"]
    assert resources["limits"]["nvidia.com/gpu"] == "2"
    assert int(resources["limits"]["cpu"]) == int(whole["cpu"]) * 2 // 8
    assert "vpc.amazonaws.com/efa" not in resources["limits"]


@pytest.mark.parametrize("gpus", ["0", "1", "8"])
def test_it_passes_our_own_rules(trainyard: Command, lab: Path, gpus: str) -> None:
    done = trainyard("debug", "train", "lab.yaml", "--gpus", gpus, "--print", cwd=lab)
    (lab / "debug.yaml").write_text(done.out)
    judged = trainyard("lint", "debug.yaml", "--fail-on", "warning", cwd=lab)
    assert judged.code == 0, judged.out


WITHOUT_TORCHRUN = {"command": ["python", "train.py"]}
OF_KIND: dict[str, dict[str, Any]] = {
    "Job": WITHOUT_TORCHRUN,
    "RayJob": WITHOUT_TORCHRUN,
    "MPIJob": {**WITHOUT_TORCHRUN, "launcher": {"mpi": {}}},
}


@pytest.mark.parametrize("kind", EKS.asked().kinds())
def test_jobs_of_every_kind(trainyard: Command, tmp_path: Path, kind: str) -> None:
    job = {"kind": kind, **OF_KIND.get(kind, {})}
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec(job=job)))
    (container,) = pod_of(printed(trainyard, tmp_path, "train", "lab.yaml"))["containers"]
    assert container["image"] == "registry.test/train:1.0"
    assert container["command"] == ["sleep", "3600"]


def test_on_hyperpod(trainyard: Command) -> None:
    body = printed(trainyard, SPECS.parent, "deepseek-lora", "specs/hyperpod-lora.yaml")
    assert pod_of(body)["containers"][0]["command"] == ["sleep", "3600"]


def test_it_is_made_and_says_the_way_in(trainyard: Command, lab: Path, cluster: Cluster) -> None:
    done = trainyard("debug", "train", "lab.yaml", cwd=lab)
    assert done.code == 0, done.err
    assert "kubectl exec job/debug-train --namespace training -it -- bash\n" in done.out
    ((path, body),) = cluster.created
    assert path == JOBS
    assert body == printed(trainyard, lab, "train", "lab.yaml")


def test_one_for_each_job(trainyard: Command, lab: Path, cluster: Cluster) -> None:
    cluster.lists[JOBS] = [{"metadata": {"name": "debug-train"}}]
    done = trainyard("debug", "train", "lab.yaml", cwd=lab)
    assert (done.code, done.out, cluster.created) == (2, "", [])
    assert "error[CLU019]" in done.err
    assert "kubectl delete job --namespace training debug-train" in done.err


def test_another_cluster_gets_none(trainyard: Command, lab: Path, cluster: Cluster) -> None:
    for body in cluster.single.values():
        if "spec" in body:
            body["spec"]["path"] = "./generated/prod/flux"
    done = trainyard("debug", "train", "lab.yaml", cwd=lab)
    assert (done.code, cluster.created) == (2, [])
    assert "error[CLU006]" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("trian",), "error[CLU012]"),
        (("train", "--gpus", "9"), "error[CLU018]"),
        (("train", "--gpus", "-1"), "`--gpus` is 0 or more"),
        (("train", "--minutes", "0"), "`--minutes` 1 or more"),
    ],
)
def test_bad_input(trainyard: Command, lab: Path, words: tuple[str, ...], said: str) -> None:
    job, *options = words
    done = trainyard("debug", job, "lab.yaml", *options, "--print", cwd=lab)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
