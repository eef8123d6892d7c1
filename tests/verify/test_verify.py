"""The pass as a whole: diagnostics, duplicates, checks against the runtime, purity, odd shapes, codes and pages."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from drawn import examples_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import Manifest
from trainyard.verify import validate_body, verify, webhooks
from trainyard.verify.names import characters_added

from verify.conftest import (
    CLUSTER_QUEUE,
    DEPLOYMENT,
    HELM_RELEASE,
    JOB,
    KUSTOMIZATION,
    NODE_POOL,
    POD,
    RUNTIME,
    TRAIN_JOB,
    edited,
)

ROOT = Path(__file__).parents[2]
PATCH = "spec/runtimePatches/0/trainingRuntimeSpec/template/spec/replicatedJobs/0"
BODIES = [
    CLUSTER_QUEUE,
    DEPLOYMENT,
    HELM_RELEASE,
    JOB,
    KUSTOMIZATION,
    NODE_POOL,
    POD,
    RUNTIME,
    TRAIN_JOB,
]


def test_a_diagnostic_names_object_and_route() -> None:
    (found,) = verify([Manifest(edited(POD, ("spec/restartPolicy", "never")))], closed=False)
    assert (found.code, found.severity, str(found.at)) == (
        "SCH004",
        Severity.ERROR,
        "@Pod/team-a/p.spec.restartPolicy",
    )
    assert found.object == "Pod/team-a/p"
    assert found.help == "did you mean `Never`?"


def test_duplicates_name_both_places() -> None:
    (found,) = verify(
        [Manifest(NODE_POOL, "a/pool.yaml"), Manifest(copy.deepcopy(NODE_POOL), "b/pool.yaml")],
        closed=False,
    )
    assert found.code == "NAM005"
    assert "`a/pool.yaml`" in found.message
    assert "`b/pool.yaml`" in found.message


def test_same_name_in_another_namespace_or_group_is_no_duplicate() -> None:
    other = edited(POD, ("metadata/namespace", "team-b"))
    assert verify([Manifest(POD), Manifest(other)], closed=False) == []


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        ((f"{PATCH}/name", "nodes"), "name"),
        ((f"{PATCH}/template/spec/template/spec/containers/0/name", "main"), "containers[0].name"),
        (
            (f"{PATCH}/template/spec/template/spec/containers/0/volumeMounts/0/name", "data"),
            "volumeMounts[0].name",
        ),
    ],
)
def test_a_patch_is_checked_against_its_runtime(edit: tuple[str, Any], path: str) -> None:
    job = edited(TRAIN_JOB, edit)
    (found,) = verify([Manifest(RUNTIME), Manifest(job)], closed=False)
    assert found.code == "SCH012"
    assert str(found.at).endswith(path)
    assert verify([Manifest(job)], closed=False) == []  # the runtime may live elsewhere


REPLICATED = "spec/template/spec/replicatedJobs"


def initializing(name: str, container: str, mount: str) -> dict[str, Any]:
    """The runtime with one more job, for an initializer."""
    pod = {
        "containers": [
            {"name": container, "image": "i", "volumeMounts": [{"name": mount, "mountPath": "/d"}]}
        ]
    }
    job = {
        "name": name,
        "template": {
            "spec": {"template": {"spec": {**pod, "volumes": [{"name": mount, "emptyDir": {}}]}}}
        },
    }
    return edited(
        RUNTIME, (REPLICATED, [job, *RUNTIME["spec"]["template"]["spec"]["replicatedJobs"]])
    )


@pytest.mark.parametrize(
    ("runtime", "codes"),
    [
        (RUNTIME, ["SCH011"]),
        (initializing("model-initializer", "main", "initializer"), ["SCH011"]),
        (initializing("model-initializer", "model-initializer", "data"), ["SCH011"]),
        (initializing("model-initializer", "model-initializer", "initializer"), []),
    ],
)
def test_an_initializer_needs_its_job_container_and_mount(
    runtime: dict[str, Any], codes: list[str]
) -> None:
    job = edited(TRAIN_JOB, ("spec/initializer", {"model": {"storageUri": "s3://b/m"}}))
    assert [one.code for one in verify([Manifest(runtime), Manifest(job)], closed=False)] == codes
    assert verify([Manifest(job)], closed=False) == []


def test_names_that_trainer_sets_depend_on_the_runtime() -> None:
    job = edited(TRAIN_JOB, ("spec/trainer/env/0/name", "PET_NNODES"))
    (found,) = verify([Manifest(RUNTIME), Manifest(job)], closed=False)
    assert (found.code, str(found.at)) == (
        "SCH011",
        "@TrainJob/team-a/llama.spec.trainer.env[0].name",
    )
    plain = edited(RUNTIME, ("spec/mlPolicy/torch", None))
    assert verify([Manifest(plain), Manifest(job)], closed=False) == []
    assert verify([Manifest(job)], closed=False) == []


@pytest.mark.parametrize(("namespace", "codes"), [("team-a", ["SCH011"]), ("b", [])])
def test_a_runtime_of_a_namespace_is_that_of_its_jobs(namespace: str, codes: list[str]) -> None:
    runtime = edited(RUNTIME, ("kind", "TrainingRuntime"), ("metadata/namespace", namespace))
    job = edited(
        TRAIN_JOB,
        ("spec/runtimeRef/kind", "TrainingRuntime"),
        ("spec/trainer/env/0/name", "PET_NNODES"),
    )
    found = verify([Manifest(runtime), Manifest(job)], closed=False)
    assert [fault.code for fault in found] == codes


def test_the_limit_of_a_jobs_name_follows_its_pods() -> None:
    assert 63 - characters_added("node", 1, 1000) == 46
    assert 63 - characters_added("node", 1, 10) == 48
    runtime = edited(RUNTIME, ("spec/mlPolicy/numNodes", 1001))
    for length, nodes, code in (
        (48, 4, []),
        (49, 4, ["NAM002"]),
        (46, 1000, []),
        (47, 1000, ["NAM002"]),
        (45, None, []),
        (46, None, ["NAM002"]),
    ):
        job = edited(TRAIN_JOB, ("metadata/name", "a" * length), ("spec/trainer/numNodes", nodes))
        found = verify([Manifest(runtime), Manifest(job)], closed=False)
        assert [one.code for one in found] == code, (length, nodes)


def test_nothing_is_changed_and_the_answer_is_the_same_twice() -> None:
    before = copy.deepcopy(BODIES)
    first = verify([Manifest(body) for body in BODIES])
    assert verify([Manifest(body) for body in BODIES]) == first
    assert before == BODIES


def test_an_update_is_judged_by_the_rules_with_the_old_object() -> None:
    job = Manifest(edited(TRAIN_JOB, ("spec/trainer/image", "train:2")))
    found = verify([job], closed=False, previous={job.ref: TRAIN_JOB})
    assert [(one.code, str(one.at)) for one in found] == [
        ("SCH008", "@TrainJob/team-a/llama.spec.trainer")
    ]
    assert verify([job], closed=False) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(
    max_examples=examples_of(300), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.data())
def test_no_shape_of_a_body_is_raised_at_the_user(data: st.DataObject) -> None:
    body: Any = copy.deepcopy(data.draw(st.sampled_from(BODIES)))
    here: Any = body
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = data.draw(
            st.sampled_from([key for key in keys if key not in ("apiVersion", "kind")] or keys)
        )
        if isinstance(here[key], (dict, list)) and here[key] and data.draw(st.integers(0, 3)):
            here = here[key]
            continue
        here[key] = data.draw(JSON)
        break
    for found in verify([Manifest(RUNTIME), Manifest(body)]):
        assert found.message
        assert found.at


@pytest.mark.slow
def test_every_webhook_module_is_named_for_a_kind_and_has_both_sides() -> None:
    from verify.test_bodies import CASES, SOUND

    kinds = {kind.lower() for kind in SOUND} | {"trainingruntime"}
    assert webhooks.modules() <= kinds
    tried = {
        kind.lower()
        for kind, _, code, _ in CASES
        if code in ("SCH006", "SCH008", "SCH011", "SCH012", "NAM002")
    }
    assert webhooks.modules() - {"trainingruntime"} <= tried


def test_a_namespaced_runtime_is_judged_as_the_cluster_wide_one() -> None:
    body = edited(
        RUNTIME,
        ("kind", "TrainingRuntime"),
        ("metadata/namespace", "team-a"),
        ("spec/template/spec/replicatedJobs/0/replicas", 2),
    )
    assert [fault.code for fault in validate_body(body)] == ["SCH011"]


@pytest.mark.slow
def test_codes_and_pages_are_the_same_set() -> None:
    used = set()
    for path in (ROOT / "compiler/trainyard/verify").rglob("*.py"):
        used |= set(re.findall(r"\"((?:SCH|REF|NAM)\d{3})\"", path.read_text()))
    pages = set()
    for area in ("SCH", "REF", "NAM"):
        text = (ROOT / f"compiler/trainyard/language/diagnostics/codes/{area}.md").read_text()
        pages |= set(re.findall(r"^## ([A-Z]{3}\d{3}) [a-z-]+$", text, re.MULTILINE))
        assert all("```" in part for part in text.split("\n## ")[1:])
    assert used == pages
