"""What the help about a kind of job says to write leads to a job without a fault: RES164 of every kind and program, and
RES321 of every place that a namespace is written in."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from builders import spec as eks
from drawn import drawn
from trainyard.extensions.hyperpod.jobs.kind import kinds
from trainyard.language.diagnostics import Diagnostic

from tests.platforms.hyperpod.clusters import spec as hyperpod
from tests.platforms.passes import compiled

pytestmark = pytest.mark.slow

Spec = dict[str, Any]
PROGRAMS = (["torchrun", "train.py"], ["python", "train.py"], ["mpirun", "train"])
KINDS = (None, "TrainJob", "PyTorchJob", "MPIJob", "JobSet", "Job", "RayJob", "HyperPodPyTorchJob")


def _of_hyperpod(**job: Any) -> Spec:
    """A cluster of HyperPod whose PyTorch is not known, and which has task governance or not."""
    return hyperpod(job={"torchVersion": None, "timeout": None, **job})


def _governed(**job: Any) -> Spec:
    return hyperpod(job={"torchVersion": None, "timeout": None, **job}, own={"taskGovernance": {}})


def _of_eks(**job: Any) -> Spec:
    return eks(job=job)


MAKERS: dict[str, Callable[..., Spec]] = {
    "EKS": _of_eks,
    "HyperPod": _of_hyperpod,
    "HyperPod with task governance": _governed,
}


def faults(spec: Spec, folder: Path) -> list[Diagnostic]:
    """What is wrong with a spec itself; rules on what it makes read a whole one alone."""
    found = compiled(without_nothing(spec), folder).diagnostics
    return [each for each in found if each.code.startswith(("RES", "SPC", "INT"))]


def without_nothing(value: Any) -> Any:
    """A spec without the keys that a test took away."""
    if isinstance(value, dict):
        return {key: without_nothing(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nothing(item) for item in value]
    return value


def written(spec: Spec, advice: str) -> Spec:
    """A spec as a part of the help says."""
    spec = deepcopy(spec)
    (job,) = spec["spec"]["jobs"]
    if advice == "remove it":
        job["minNodes"] = None
        return spec
    kind = re.search(r"write `kind: (\w+)`", advice)
    assert kind is not None, advice
    job["kind"] = kind[1]
    if "hyperpodrun" in advice:
        job["command"] = ["hyperpodrun", *job["command"][1:]]
    if "taskGovernance" in advice:
        spec["spec"]["platform"]["hyperPod"]["taskGovernance"] = {}
    return spec


@pytest.mark.parametrize(("maker", "kind", "program"), drawn(product(MAKERS, KINDS, PROGRAMS), 30))
def test_each_help_of_an_elastic_gang(
    maker: str, kind: str | None, program: list[str], tmp_path: Path
) -> None:
    job: Spec = {"command": program, "nodes": 4, "minNodes": 2, "kind": kind}
    spec = MAKERS[maker](**job)
    said = faults(spec, tmp_path)
    others = {each.code for each in said} - {"RES164"}
    for finding in said:
        if finding.code != "RES164":
            continue
        for advice in re.split("; or ", finding.help):
            left = {each.code for each in faults(written(spec, advice), tmp_path)}
            assert left <= others, advice


def _queue(*namespaces: str) -> list[Spec]:
    quota = [{"pool": "a100", "nodes": 4}]
    return [{"name": "q", "namespaces": list(namespaces), "quota": quota}]


NAMESPACES: dict[str, tuple[dict[str, Any], str | None]] = {
    "of no queue": ({"queues": None}, None),
    "of no queue, one of the spec": ({"queues": None, "namespaces": [{"name": "team-a"}]}, None),
    "of no queue, at the job": (
        {"queues": None, "namespaces": [{"name": "team-a"}, {"name": "hyperpod-x"}]},
        "team-a",
    ),
    "of the queue": ({"queues": _queue("team-a")}, None),
    "of the queue, at the job": ({"queues": _queue("team-a")}, "team-a"),
    "of a queue with another": ({"queues": _queue("team-a", "hyperpod-x")}, "team-a"),
}


def _moved(spec: Spec, advice: str) -> Spec:
    """A spec as the help about a namespace says."""
    spec = deepcopy(spec)
    whole, (job,) = spec["spec"], spec["spec"]["jobs"]
    names = re.findall(r"`(?:\{name: |namespace: )?((?:hyperpod)[\w-]*)\}?`", advice)
    assert names, advice
    if "to `spec.namespaces`" in advice:
        whole["namespaces"] = [*whole.get("namespaces", ()), {"name": names[0]}]
    if "of queue `q`" in advice:
        whole["queues"][0]["namespaces"].append(names[0])
    if "`namespace: " in advice:
        job["namespace"] = names[0]
    elif "write `hyperpod" in advice:
        whole["queues"][0]["namespaces"] = [names[0]]
    return spec


@pytest.mark.parametrize("case", NAMESPACES)
@pytest.mark.parametrize("retries", [None, 2])
def test_each_help_of_a_namespace_without_resuming(
    case: str, retries: int | None, tmp_path: Path
) -> None:
    parts, namespace = NAMESPACES[case]
    spec = _of_hyperpod(retries=retries, namespace=namespace, queue=None)
    spec["spec"] |= deepcopy(parts)
    (finding,) = faults(spec, tmp_path)
    assert finding.code == "RES321"
    move, rest = finding.help.split("; or ")
    assert rest == "write `retries: 0`"
    assert faults(_moved(spec, move), tmp_path) == []
    without = deepcopy(spec)
    without["spec"]["jobs"][0]["retries"] = 0
    assert faults(without, tmp_path) == []


def test_every_kind_is_tried() -> None:
    assert {*kinds()} <= {*KINDS}
