"""The table of public images: what is known of each, through mirrors too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trainyard.catalog import images
from trainyard.catalog.images import facts_of

PYTORCH = "pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime"
ECR = "111122223333.dkr.ecr.us-west-2.amazonaws.com"


@pytest.mark.parametrize(
    ("image", "efa"),
    [
        (PYTORCH, False),
        (f"docker.io/{PYTORCH}@sha256:{'0' * 64}", False),
        (f"mirror.gcr.io/{PYTORCH}", False),
        (f"{ECR}/docker-hub/{PYTORCH}", False),
        ("public.ecr.aws/docker/library/python:3.12", False),
        ("nvcr.io/nvidia/pytorch:26.06-py3", False),
        ("nvcr.io/nvidia/pytorch:26.05-py3", True),
        ("nvcr.io/nvidia/pytorch:26.07-py3", None),
        (f"{ECR}/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2", True),
    ],
)
def test_whether_it_has_the_plugin(image: str, efa: bool | None) -> None:
    facts = facts_of(image)
    assert facts is not None
    assert facts.efa is efa


@pytest.mark.parametrize(
    "image",
    [
        "registry.example/train:1.0",
        "pytorch/pytorch",
        "pytorch/pytorch:ours-with-efa",
        f"{ECR}/{PYTORCH}",
        "localhost:5000/train",
        "",
    ],
)
def test_what_is_not_known(image: str) -> None:
    """A repository of one's own may be called like an upstream's: only below a prefix it is a cache."""
    assert facts_of(image) is None


@pytest.mark.parametrize(
    ("image", "devices", "arches"),
    [
        ("rayproject/ray:2.49.0", "cpu", ("amd64",)),
        ("rayproject/ray:2.49.0-py312-gpu", "gpu", ("amd64",)),
        ("rayproject/ray:2.49.0-py312-cu128-aarch64", "gpu", ("arm64",)),
        ("rayproject/ray-ml:2.40.0", "gpu", ("amd64",)),
        ("tensorflow/tensorflow:2.17.0", "cpu", ()),
        ("tensorflow/tensorflow:2.17.0-gpu", "gpu", ()),
    ],
)
def test_what_it_is_for(image: str, devices: str, arches: tuple[str, ...]) -> None:
    facts = facts_of(image)
    assert facts is not None
    assert (facts.devices, facts.arches) == (devices, arches)


def test_each_row_has_a_source() -> None:
    rows = json.loads(Path(images.DATA).read_bytes())["images"]
    for row in rows:
        assert len(row["source"]) > 10, row
        assert {"repositories", "tags", "source"} <= set(row), row
