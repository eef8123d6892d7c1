"""The instance types that EKS Auto Mode launches (``data/auto_mode.json``)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from compiler.catalog.catalog import DATA
from compiler.catalog.instance import InstanceType


@cache
def _data() -> dict[str, Any]:
    text = (DATA / "auto_mode.json").read_bytes()
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def families() -> frozenset[str]:
    """The families of which EKS Auto Mode launches instances."""
    return frozenset(_data()["families"])


def launches(instance: InstanceType) -> bool:
    """Whether EKS Auto Mode launches nodes of a type."""
    data = _data()
    if instance.vcpus < data["least_vcpus"]:
        return False
    if instance.size in data["too_small"]:
        return False
    return instance.family in families()
