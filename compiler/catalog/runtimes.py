"""The training runtimes that a release of Kubeflow Trainer brings with it: manifests, as they were released."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from compiler.dataclass import dataclass

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class ReleasedRuntime:
    """A ClusterTrainingRuntime: the release and file that its body is from, and every release that has one of its
    name."""

    name: str
    version: str
    file: str
    releases: tuple[str, ...]
    body: Mapping[str, Any]


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "runtimes.json").read_bytes())
    return data


@cache
def released_runtimes() -> Mapping[str, ReleasedRuntime]:
    """By name; of one that several releases have, the newest."""
    return {
        name: ReleasedRuntime(
            name, each["version"], each["file"], tuple(each["releases"]), each["body"]
        )
        for name, each in _data()["runtimes"].items()
    }


def runtimes_source() -> tuple[str, str, str, str]:
    """Where they come from: what, from where, version, date."""
    data = _data()
    newest = max((each["version"] for each in data["runtimes"].values()), default="")
    return "training runtimes", data["source"], newest, data["date"]
