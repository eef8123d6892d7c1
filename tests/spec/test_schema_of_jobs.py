"""The JSON Schema and the compiler agree on what a job, a pool and `jobDefaults` may say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import JOB, POOL, document, spec
from schemas import committed
from trainyard.extensions.parallelcluster import PLATFORM as PARALLEL_CLUSTER
from trainyard.language.places import Document
from trainyard.language.source.inherit import inherit
from trainyard.run.language.load import load
from trainyard.run.platforms import PLATFORMS

MINIMAL = {"image": "r.test/a:1", "command": ["x"]}
VOLUME = {"name": "a", "path": "/a", "emptyDir": {}}


def accepted(data: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the schema takes a spec, and whether the compiler takes its shape."""
    data = json.loads(json.dumps(data))
    root, faults = inherit(document(data).root)
    model, _ = load(Document(root))
    return committed().is_valid(data), model is not None and not faults


SOUND = [
    spec(job={"launcher": {"torchrun": {}}}),
    spec(job={"launcher": {"mpi": {"sshPort": 2200}}}),
    spec(job={"launcher": {"ncclTest": {}}, "image": None, "command": None}),
    spec(job={"launcher": {"ncclTest": {"busBandwidth": 20.5}}, "image": "r.test/a:1"}),
    spec(job={"volumes": [VOLUME]}),
    spec(job={"volumes": [{**VOLUME, "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]}),
    spec(job={"files": {"/a/b.yaml": "x", "/etc/a b": ""}}),
    spec(job={"initContainers": [{"name": "a", "command": ["x"]}]}),
    spec(job={"annotations": {"example.com/a": "x"}, "imagePullSecrets": ["a.b"]}),
    spec(job={"excludeNodes": ["ip-10-0-0-1.ec2.internal"], "workingDir": "/a"}),
    spec(job={"topology": {"required": "hostname"}}),
    spec(job={"resources": {"hugePages": 0, "accelerators": 0}}),
    spec(job={"model": {"parameters": 1e9, "trainable": 1e6, "offload": "optimizer"}}),
    spec(job={"model": {"parameters": 1e9, "parallel": {"tensor": 8, "data": 4}}}),
    spec(jobs=[JOB, {"name": "b", "extends": "train"}]),
    spec(jobs=[{"name": "a"}, {"name": "b"}], jobDefaults=MINIMAL),
    spec(jobDefaults={"checkpoint": {"every": "1h"}}, job={"checkpoint": {"path": "/a"}}),
    spec(nodePools=[POOL, {"name": "b", "extends": "gpu"}], job={"pool": "gpu"}),
    spec(namespaces=[{"name": "a", "podSecurity": "privileged", "quota": {"accelerators": 8}}]),
]
BROKEN = [
    spec(job={"launcher": {}}),
    spec(job={"launcher": {"mpi": {}, "jax": {}}}),
    spec(job={"launcher": {"mpi": {}}, "image": None, "command": None}),
    spec(job={"launcher": {"mpi": {"sshPort": 22}}}),
    spec(job={"launcher": {"ncclTest": {"share": 0}}, "image": None, "command": None}),
    spec(job={"volumes": [{"name": "a", "path": "/a"}]}),
    spec(job={"volumes": [{**VOLUME, "secret": {"secretName": "a"}}]}),
    spec(job={"volumes": [{**VOLUME, "emptyDir": {"medium": "HugePages"}}]}),
    spec(job={"volumes": [{"name": "a", "path": "/a", "nodeLocal": {}}]}),
    spec(job={"volumes": [{"name": "a", "path": "/a", "hostPath": {"path": "/a", "type": "Dir"}}]}),
    spec(job={"files": {"a": "x"}}),
    spec(job={"files": {"/a/": "x"}}),
    spec(job={"files": {"/proc/a": "x"}}),
    spec(job={"files": {"/a": 3}}),
    spec(job={"files": [{"path": "/a"}]}),
    spec(job={"initContainers": [{"name": "a"}]}),
    spec(job={"initContainers": [{"name": "a", "command": []}]}),
    spec(job={"annotations": {"a b": "x"}}),
    spec(job={"excludeNodes": ["A_b"]}),
    spec(job={"topology": {}}),
    spec(job={"topology": {"required": "hostname", "preferred": "hostname"}}),
    spec(job={"topology": {"required": "rack"}}),
    spec(job={"resources": {"gpus": 8}}),
    spec(job={"model": {"parameters": 1e9, "offload": "disk"}}),
    spec(job={"model": {"parameters": 1e9, "parallel": {"tensor": 0}}}),
    spec(job={"model": {"parameters": 1e9, "parallel": {"experts": 2}}}),
    spec(job={"extends": 3}),
    spec(jobs=[{"name": "b"}]),
    spec(jobs=[{"extends": "b"}]),
    spec(jobDefaults={"name": "a"}),
    spec(jobDefaults={"extends": "train"}),
    spec(jobDefaults={"completed": True}),
    spec(jobDefaults={"rerun": 1}),
    spec(jobDefaults={"imag": "r.test/a:1"}),
    spec(jobDefaults=[]),
    spec(nodePools=[POOL, {"name": "b"}]),
    spec(nodePools=[POOL, {"extends": "gpu"}]),
    spec(namespaces=[{"name": "a", "podSecurity": "open"}]),
    spec(namespaces=[{"name": "a", "quota": {"gpus": 8}}]),
]


@pytest.mark.parametrize("data", SOUND)
def test_both_take_what_is_sound(data: dict[str, Any]) -> None:
    assert accepted(data) == (True, True)


@pytest.mark.parametrize("data", BROKEN)
def test_both_refuse_what_is_not(data: dict[str, Any]) -> None:
    assert accepted(data) == (False, False)


def test_the_schema_offers_no_kind_that_every_platform_refuses() -> None:
    """A platform that refuses `jobs.kind` runs jobs of a kind that no spec names."""
    assert committed().is_valid(spec(job={"kind": "JobSet"}))
    refusing = [each for each in PLATFORMS.values() if each.instead_of("jobs.kind") is not None]
    assert PARALLEL_CLUSTER in refusing
    for platform in refusing:
        for kind in platform.asked().kinds():
            assert not committed().is_valid(spec(job={"kind": kind})), kind


def document_of(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    head = {"apiVersion": "trainyard.dev/v1alpha1", "kind": kind}
    return {**head, "metadata": {"name": "a"}, "spec": body}


@pytest.mark.parametrize(
    ("kind", "body", "sound"),
    [
        ("TrainingJob", MINIMAL, True),
        ("TrainingJob", {"extends": "train"}, True),
        ("TrainingJob", {"nodes": 2}, True),
        ("TrainingJob", {"noddes": 2}, False),
        ("TrainingNodePool", {"extends": "gpu"}, True),
        ("TrainingNodePool", {"zones": ["us-west-2a"]}, False),
        ("TrainingQueue", {}, False),
    ],
)
def test_a_document_of_its_own_may_leave_out_what_it_inherits(
    kind: str, body: dict[str, Any], sound: bool
) -> None:
    assert committed().is_valid(document_of(kind, body)) is sound


@pytest.mark.parametrize(
    ("defaults", "sound"),
    [(MINIMAL, True), ({"checkpoint": {"every": "1h"}}, True), ({"imag": "a"}, False)],
)
def test_a_base_may_have_defaults(defaults: dict[str, Any], sound: bool) -> None:
    head = {"apiVersion": "trainyard.dev/v1alpha1", "kind": "TrainingClusterBase"}
    base = {**head, "spec": {"jobDefaults": defaults}}
    assert committed().is_valid(base) is sound
