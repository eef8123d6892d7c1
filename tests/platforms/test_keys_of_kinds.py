"""Every key of a job does something on each kind of object: it is written, or something is found."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from builders import job_of_kind, spec, summaries
from drawn import drawn
from trainyard.eks.jobs.kind import JobKind
from trainyard.eks.jobs.kinds import kinds, kinds_of_eks
from trainyard.run.platforms import EKS

from tests.platforms.hyperpod.clusters import files
from tests.platforms.hyperpod.test_governance import governed
from tests.platforms.passes import compiled, fields_of, item_model

KINDS = kinds()
EXAMPLES: dict[str, Any] = {
    "command": ["python", "other.py"],
    "kind": "Unknown",
    "launcher": {"jax": {}},
    "maxRestarts": 5,
    "nodes": 5,
    "processesPerNode": 3,
    "queue": "other",
    "retries": 7,
    "sharedMemory": "9Gi",
    "timeout": "7h",
    "torchVersion": "2.13",
}
"""A value of each key whose own example does not fit the small cluster."""
ELSEWHERE = {
    "expected": "the report holds it against what is estimated",
    "extends": "it names a template, whose keys are the job's",
    "model": "rules and the report read it",
    "rerun": "it is one more run of the same object",
}
"""Keys that no object has, and why."""


def written(data: dict[str, Any], folder: Path) -> tuple[list[str], list[Any]]:
    """What is written and what is found, without the digits that the content gives to names."""
    done = compiled(data, folder)
    texts = [f"{path}\n{text}" for path, text in files(done).items()]
    found = summaries(list(done.diagnostics))
    return [re.sub(r"train-[0-9a-f]{5}", "train", text) for text in texts], found


def cluster(kind: JobKind) -> dict[str, Any]:
    """A small cluster with a job of a kind, of the platform that has it."""
    job = job_of_kind(kind)
    if kind.name in kinds_of_eks():
        return spec(job=job)
    return governed(job=job)


_SMALL: dict[str, Any] = {}


def small(kind: JobKind, folder: Path) -> tuple[list[str], list[Any]]:
    """What the small cluster of a kind is compiled to."""
    if kind.name not in _SMALL:
        _SMALL[kind.name] = written(cluster(kind), folder)
    found: tuple[list[str], list[Any]] = _SMALL[kind.name]
    return found


def keys() -> list[Any]:
    fields = fields_of(item_model(EKS, "jobs"))
    return [
        pytest.param(
            kind, key, EXAMPLES.get(key, (field.examples or [None])[0]), id=f"{name} {key}"
        )
        for name, kind in KINDS.items()
        for key, field in fields.items()
        if key not in ELSEWHERE
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "key", "value"), drawn(keys(), 55))
def test_no_key_is_dropped(kind: JobKind, key: str, value: Any, tmp_path: Path) -> None:
    data = copy.deepcopy(cluster(kind))
    data["spec"]["jobs"][0][key] = value
    assert written(data, tmp_path) != small(kind, tmp_path)
