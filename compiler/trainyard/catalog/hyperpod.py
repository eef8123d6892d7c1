"""The instance types that SageMaker HyperPod has (``data/hyperpod.json``). It calls each by ``ml.`` and EC2's name."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA, Source

PREFIX = "ml."


@cache
def _data() -> dict[str, Any]:
    text = (DATA / "hyperpod.json").read_bytes()
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def types() -> frozenset[str]:
    """The types, by EC2's names."""
    return frozenset(_data()["types"])


def source() -> Source:
    """Where they are from."""
    return Source(*_data()["source"])


def ml_name(name: str) -> str:
    """What HyperPod calls a type of EC2."""
    return PREFIX + name


def ec2_name(name: str) -> str:
    """What EC2 calls a type of HyperPod."""
    return name.removeprefix(PREFIX)


def regions() -> tuple[str, ...]:
    """The Regions that are known to have it."""
    return tuple(_data()["regions"]["names"])


def regions_source() -> str:
    """Where these are from."""
    said: str = _data()["regions"]["source"]
    return said


def kubernetes() -> tuple[str, ...]:
    """The minor versions of Kubernetes that its clusters of EKS may have."""
    return tuple(_data()["kubernetes"]["minors"])


def kubernetes_source() -> str:
    """Where these are from."""
    said: str = _data()["kubernetes"]["source"]
    return said


def operated_kubernetes() -> tuple[str, ...]:
    """The minor versions of Kubernetes that HyperPod's training operator takes."""
    return tuple(_data()["training_operator"]["minors"])


def operated_torch() -> tuple[str, str]:
    """The oldest and the newest minor version of PyTorch that it takes."""
    oldest, newest = _data()["training_operator"]["torch"]
    return oldest, newest


def operator_source() -> str:
    """Where these are from."""
    said: str = _data()["training_operator"]["source"]
    return said
