"""What GPUs compute and read (``data/accelerators.json``): dense operations a second by precision, memory bandwidth.

Each entry has its source. What no source establishes is left out: no time is computed for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA
from trainyard.catalog.instance import InstanceType

_TERA = 1e12
_GIGA = 1e9


@cache
def _data() -> Mapping[str, Any]:
    text = (DATA / "accelerators.json").read_bytes()
    data: Mapping[str, Any] = json.loads(text)
    return data


def peaks(accelerator: str | None) -> Mapping[str, float]:
    """Dense operations a second by precision; {} is unknown."""
    known = _data()["accelerators"].get(accelerator, {})
    return {precision: tera * _TERA for precision, tera in known.get("tflops", {}).items()}


def memory_rate(instance: InstanceType) -> float | None:
    """Bytes a second of the memory of one accelerator; ``None`` is unknown. It differs by the memory's size."""
    known = _data()["accelerators"].get(instance.accelerator, {})
    rates: Mapping[str, float] = known.get("memory_gb_s", {})
    size = str(instance.accelerator_memory_mib)
    rate = rates.get(size)
    if rate is None:
        return None
    return rate * _GIGA


def pcie_rate() -> float:
    """Bytes a second, one way, between accelerators without NVLink."""
    rate: float = _data()["pcie_gb_s"]
    return rate * _GIGA
