"""How long a job has to save, and who hears of it."""

from __future__ import annotations

from typing import Any

import pytest
from builders import FSX, job_of, plan_of, spec

from compiler.catalog.torch import torch_of
from compiler.subjects.jobs.plan import Runtime, TrainJob
from compiler.subjects.pools.plan import NodePool

STORAGE = [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}]
SAVES: dict[str, Any] = {
    "mounts": [{"storage": "data", "path": "/data"}],
    "checkpoint": {"path": "/data/run"},
}
BLOCK: dict[str, Any] = {
    "nodes": {"min": 4, "max": 4},
    "capacity": {"block": {"reservations": [{"id": "cr-0a100000"}]}},
}


def shutdown_seconds(
    job: dict[str, Any], pool: dict[str, Any] | None = None
) -> str | None:
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
        ("pytorch/pytorch:2.12.0-cuda13.0-cudnn9-runtime@sha256:" + "0" * 64, (2, 12)),
        ("nvcr.io/nvidia/pytorch:24.12-py3", None),  # a date
        ("registry.test/pytorch-training:2.12.0", None),  # somebody's own version
        ("registry.test/my-pytorch-training:2.12.0-gpu", None),
        ("registry.test/train@sha256:" + "0" * 64, None),
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
        ({"torch": "2.11"}, None),
        ({"torch": "2.12"}, "585"),
        ({"torch": "2.12.1"}, "585"),
        ({"torch": "3.0"}, "585"),
        ({"torch": "2.12", "gracePeriod": "2m"}, "105"),
        ({"torch": "2.12", "gracePeriod": "20s"}, "10"),
        ({"image": "pytorch/pytorch:2.12.0-cuda13.0-cudnn9-runtime"}, "585"),
        ({"image": "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"}, None),
        ({"torch": "2.12", "command": ["python", "train.py"]}, None),
        (
            {
                "torch": "2.12",
                "command": ["torchrun", "--shutdown-timeout=90", "train.py"],
            },
            None,
        ),
        (
            {
                "torch": "2.12",
                "command": ["torchrun", "--shutdown_timeout", "90", "train.py"],
            },
            None,
        ),
        ({"torch": "2.12", "env": {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "90"}}, "90"),
    ],
)
def test_torchrun_is_told_to_leave_its_ranks_the_grace_period(
    job: dict[str, Any], seconds: str | None
) -> None:
    assert shutdown_seconds(job) == seconds


def test_a_block_leaves_eight_minutes() -> None:
    # Karpenter: at 40 minutes before the end, once a minute; EC2: at 30 minutes (karpenter-provider-aws v1.14.1).
    assert shutdown_seconds({"torch": "2.12"}, BLOCK) == "465"
    plan = plan_of(spec(storage=STORAGE, pool=BLOCK, job=SAVES))
    (pod,) = [each.pod for each in plan.of(Runtime)[0].jobs]
    assert (pod.grace_seconds, plan.of(NodePool)[0].termination_grace) == (480, "8m")
    looks, ends_itself = 60, 60
    assert looks + 480 + ends_itself <= (40 - 30) * 60


def test_a_signal_file_is_made_by_a_hook_in_the_runtime() -> None:
    job = {**SAVES, "checkpoint": {"path": "/data/run", "signalFile": "/tmp/save it"}}
    plan = plan_of(spec(storage=STORAGE, job=job))
    (node,) = plan.of(Runtime)[0].jobs[0].pod.containers
    assert node.pre_stop == (
        "/bin/sh",
        "-c",
        "touch '/tmp/save it'; while test -e '/tmp/save it'; do sleep 1; done",
    )
    assert {each.name: each.value for each in plan.of(TrainJob)[0].env}[
        "CHECKPOINT_SIGNAL_FILE"
    ] == "/tmp/save it"
    # A patch of the job would be taken back by Kueue: none has it.
    assert not any(
        each.pre_stop
        for patch in plan.of(TrainJob)[0].patches
        for each in patch.pod.containers
    )


def test_without_a_checkpoint_nothing_waits() -> None:
    plan = plan_of(spec())
    assert plan.of(Runtime)[0].jobs[0].pod.grace_seconds == 60
    assert plan.of(Runtime)[0].jobs[0].pod.containers[0].pre_stop == ()
