"""How long a job has to save, and who hears of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from time import time
from typing import Any

import pytest
from builders import FSX, job_of, plan_of, spec
from running import stand_ins
from trainyard.catalog.torch import torch_of
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.nodes.plan import NodePool

STORAGE = [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}]
SAVES: dict[str, Any] = {
    "mounts": [{"storage": "data", "path": "/data"}],
    "checkpoint": {"path": "/data/run"},
}
BLOCK: dict[str, Any] = {
    "nodes": {"min": 4, "max": 4},
    "capacity": {"block": {"reservations": [{"id": "cr-0a100000"}]}},
}


def shutdown_seconds(job: dict[str, Any], pool: dict[str, Any] | None = None) -> str | None:
    found = {
        each.name: each.value
        for each in job_of(spec(storage=STORAGE, pool=pool, job={**SAVES, **job})).env
    }
    return found.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT")


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("pytorch/pytorch:2.12.0-cuda13.0-cudnn9-runtime", (2, 12)),
        ("docker.io/pytorch/pytorch:2.8.0-cuda12.8-cudnn9-devel", (2, 8)),
        (
            "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0",
            (2, 8),
        ),
        (
            "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training-neuronx:2.8.0-neuronx-py311-sdk2.26.0",
            (2, 8),
        ),
        (
            "763104351884.dkr.ecr.us-west-2.amazonaws.com/huggingface-pytorch-training:2.5.1-transformers4.49.0-gpu-py311",
            (2, 5),
        ),
        ("pytorch/pytorch:2.12.0-cuda13.0-cudnn9-runtime@sha256:" + "1" * 64, (2, 12)),
        ("nvcr.io/nvidia/pytorch:24.12-py3", None),  # a date
        ("registry.test/pytorch-training:2.12.0", None),  # somebody's own version
        ("registry.test/my-pytorch-training:2.12.0-gpu", None),
        ("registry.test/train@sha256:" + "1" * 64, None),
    ],
)
def test_the_tag_of_known_images_says_their_torch(
    image: str, version: tuple[int, int] | None
) -> None:
    assert torch_of(image) == version


@pytest.mark.parametrize(
    ("job", "seconds"),
    [
        ({}, None),
        ({"torchVersion": "2.11"}, None),
        ({"torchVersion": "2.12"}, "285"),
        ({"torchVersion": "2.12.1"}, "285"),
        ({"torchVersion": "3.0"}, "285"),
        ({"torchVersion": "2.12", "terminationGracePeriod": "2m"}, "105"),
        ({"torchVersion": "2.12", "terminationGracePeriod": "20s"}, "10"),
        ({"image": "pytorch/pytorch:2.12.0-cuda13.0-cudnn9-runtime"}, "285"),
        ({"image": "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"}, None),
        ({"torchVersion": "2.12", "command": ["python", "train.py"]}, None),
        (
            {"torchVersion": "2.12", "command": ["torchrun", "--shutdown-timeout=90", "train.py"]},
            None,
        ),
        (
            {
                "torchVersion": "2.12",
                "command": ["torchrun", "--shutdown_timeout", "90", "train.py"],
            },
            None,
        ),
        ({"torchVersion": "2.12", "env": {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "90"}}, "90"),
    ],
)
def test_torchrun_is_told_to_leave_its_ranks_the_grace_period(
    job: dict[str, Any], seconds: str | None
) -> None:
    assert shutdown_seconds(job) == seconds


LARGE = {"parameters": 70e9, "sharding": "full"}


def grace_of(model: dict[str, Any] | None, **size: Any) -> int | None:
    facts = {"existing": {**FSX, "version": "2.15", **size}}
    storage = [{"name": "data", "fsxLustre": facts}]
    plan = plan_of(spec(storage=storage, job={**SAVES, "model": model}))
    return plan.of(Runtime)[0].jobs[0].pod.grace_seconds


def test_the_time_to_save_follows_from_the_time_that_a_checkpoint_takes() -> None:
    fast = {"size": "38400Gi", "throughputPerTiB": 125}
    # 980 GB at 4.7 GB/s: 210 s, twice, and 90 s for the step; then the next half minute.
    assert grace_of(LARGE, **fast) == 510
    assert grace_of({"parameters": 8e9}, **fast) == 150
    assert grace_of(None, **fast) == grace_of(LARGE) == 300


def test_a_block_leaves_eight_minutes() -> None:
    # Karpenter: at 40 minutes before the end, once a minute; EC2: at 30 minutes (karpenter-provider-aws v1.14.1).
    size = {"size": "38400Gi", "throughputPerTiB": 125}
    storage = [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15", **size}}}]
    job = {**SAVES, "model": LARGE, "torchVersion": "2.12"}
    plan = plan_of(spec(storage=storage, pool=BLOCK, job=job))
    said = {each.name: each.value for each in plan.of(TrainJob)[0].env}
    assert said["TORCH_ELASTIC_SHUTDOWN_TIMEOUT"] == "465"
    (pod,) = [each.pod for each in plan.of(Runtime)[0].jobs]
    assert (pod.grace_seconds, plan.of(NodePool)[0].termination_grace) == (480, "8m")
    looks, ends_itself = 60, 60
    assert looks + 480 + ends_itself <= (40 - 30) * 60


def test_a_signal_file_is_made_by_a_hook_in_the_runtime() -> None:
    job = {**SAVES, "checkpoint": {"path": "/data/run", "signalFile": "/tmp/save it"}}
    plan = plan_of(spec(storage=STORAGE, job=job))
    (node,) = plan.of(Runtime)[0].jobs[0].pod.containers
    assert node.pre_stop[:2] == ("/bin/sh", "-c")
    assert "touch '/tmp/save it'; " in node.pre_stop[2]
    assert {each.name: each.value for each in plan.of(TrainJob)[0].env}[
        "CHECKPOINT_SIGNAL_FILE"
    ] == "/tmp/save it"
    # A patch of the job would be taken back by Kueue: none has it.
    assert not any(
        each.pre_stop for patch in plan.of(TrainJob)[0].patches for each in patch.pod.containers
    )


def test_without_a_checkpoint_nothing_waits() -> None:
    plan = plan_of(spec())
    assert plan.of(Runtime)[0].jobs[0].pod.grace_seconds == 60
    assert plan.of(Runtime)[0].jobs[0].pod.containers[0].pre_stop == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "seconds"),
    [
        ("", 60),  # nobody answers
        ('test $n -eq 7 && rm "$FILE"', 7),
        ('test $n -eq 7 && mkdir "$DIR/step-9"; test $n -eq 80 && rm "$FILE"', 80),
        ('test $n -eq 7 && echo saving > "$FILE"; test $n -eq 90 && rm "$FILE"', 90),
        ('test $n -eq 7 && mkdir "$DIR/step-9"', 255),  # it hangs while it saves
    ],
)
def test_the_hook_ends_when_all_is_saved_or_nobody_answers(
    program: str, seconds: int, tmp_path: Path
) -> None:
    """The hook itself; each of its seconds is one call of `sleep`, in which the program does what it does."""
    file, folder = tmp_path / "now", tmp_path / "run"
    folder.mkdir()
    job = {**SAVES, "checkpoint": {"path": "/data/run", "signalFile": "/tmp/now"}}
    plan = plan_of(spec(storage=STORAGE, job=job))
    hook = plan.of(Runtime)[0].jobs[0].pod.containers[0].pre_stop
    script = hook[2].replace("/tmp/now", str(file)).replace("/data/run", str(folder))
    counts = f"n=$(cat {tmp_path}/count); n=$((n+1)); echo $n > {tmp_path}/count"
    (tmp_path / "count").write_text("0")
    sleep = f"#!/bin/sh\nFILE={file} DIR={folder}\n{counts}\n{program}\nexit 0\n"
    path = stand_ins(tmp_path / "bin", {"sleep": sleep})
    old = time() - 3600
    os.utime(folder, (old, old))
    subprocess.run([*hook[:2], script], env={"PATH": path}, check=True)
    slept = int((tmp_path / "count").read_text())
    assert slept in (seconds, seconds - 1)


def test_after_the_hook_torchrun_waits_as_it_always_does() -> None:
    checkpoint = {"path": "/data/run", "signalFile": "/tmp/now"}
    assert shutdown_seconds({"torchVersion": "2.12", "checkpoint": checkpoint}) == "30"


@pytest.mark.parametrize(
    ("job", "pool", "tries"),
    [
        ({}, {}, "0"),
        ({"maxRestarts": 2}, {}, "2"),
        ({"retries": 0}, {}, "3"),
        ({}, {"instanceTypes": ["c7i.24xlarge"]}, "3"),
        ({"kind": "PyTorchJob"}, {}, "3"),
    ],
)
def test_no_process_starts_again_on_a_device_that_failed(
    job: dict[str, Any], pool: dict[str, Any], tries: str
) -> None:
    """JobSet starts the gang elsewhere; a PyTorchJob's operator starts a pod where it was."""
    found = {each.name: each.value for each in job_of(spec(pool=pool, job=job)).env}
    assert found["PET_MAX_RESTARTS"] == tries
