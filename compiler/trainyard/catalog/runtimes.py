"""The training runtimes that ship with a release of Kubeflow Trainer, as released manifests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.language.dataclass import dataclass

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
    text = (DATA / "runtimes.json").read_bytes()
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def released_runtimes() -> Mapping[str, ReleasedRuntime]:
    """By name; of one that several releases have, the newest."""
    runtimes = {}
    for name, facts in _data()["runtimes"].items():
        runtimes[name] = ReleasedRuntime(
            name, facts["version"], facts["file"], tuple(facts["releases"]), facts["body"]
        )
    return runtimes


def image_of(name: str) -> str | None:
    """The image of the nodes of a released runtime, if there is one of the name."""
    runtime = released_runtimes().get(name)
    if runtime is None:
        return None
    job_set = runtime.body["spec"]["template"]["spec"]
    (job,) = job_set["replicatedJobs"][-1:]
    pod = job["template"]["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    image: str = container["image"]
    return image


def runtimes_source() -> tuple[str, str, str, str]:
    """Where they come from: what, from where, version, date."""
    data = _data()
    runtimes = data["runtimes"].values()
    versions = [facts["version"] for facts in runtimes]
    newest = max(versions, default="")
    return "training runtimes", data["source"], newest, data["date"]
