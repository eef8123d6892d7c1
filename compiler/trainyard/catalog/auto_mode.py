"""The instance types that EKS Auto Mode launches (``data/auto_mode.json``)."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA, Source
from trainyard.catalog.instance import InstanceType


@cache
def _data() -> dict[str, Any]:
    text = (DATA / "auto_mode.json").read_bytes()
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def families() -> frozenset[str]:
    """The instance families that EKS Auto Mode launches."""
    return frozenset(_data()["families"])


def launches(instance: InstanceType) -> bool:
    """Whether EKS Auto Mode launches nodes of a type."""
    data = _data()
    if instance.vcpus < data["least_vcpus"]:
        return False
    if instance.size in data["too_small"]:
        return False
    return instance.family in families()


def fee_source() -> Source:
    """Where the shares of :func:`fee_share` are from."""
    return Source(*_data()["fee"]["source"])


def fee_share(instance: InstanceType) -> float | None:
    """What EKS takes for an hour of an instance that it launches, as a share of its price on demand, however the
    instance itself is paid; ``None`` where that is not known."""
    fee = _data()["fee"]
    series = re.match(r"[a-z]+", instance.family)
    letters = series[0] if series else ""
    if letters in fee["unknown"]:
        return None
    share: float = fee["shares"].get(letters, fee["others"])
    return share
