"""The instance types that EKS Auto Mode launches (``data/auto_mode.json``)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from compiler.catalog.catalog import DATA
from compiler.catalog.instance import InstanceType


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "auto_mode.json").read_bytes())
    return data


@cache
def families() -> frozenset[str]:
    """The families of which EKS Auto Mode launches instances."""
    return frozenset(_data()["families"])


def launches(instance: InstanceType) -> bool:
    """Whether EKS Auto Mode launches nodes of a type."""
    data = _data()
    if instance.vcpus < data["least_vcpus"] or instance.size in data["too_small"]:
        return False
    return instance.family in families()
