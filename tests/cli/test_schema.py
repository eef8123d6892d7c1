"""The schema that editors use: it takes what the compiler takes, and refuses an unknown key."""

from __future__ import annotations

import copy
import json
import re
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from running import ROOT, SPECS, Command
from schemas import committed
from trainyard.extensions.authoring.schema import KINDS
from trainyard.language.places import SourceFile
from trainyard.language.source.parse import parse

pytestmark = pytest.mark.slow

FILES = sorted(SPECS.rglob("*.yaml"))


def bodies(path: Path) -> list[Any]:
    """The documents of a spec, read as YAML 1.2, as editors do."""
    documents, faults = parse(SourceFile(path.name, path.read_text(encoding="utf-8")))
    assert not faults
    return [document.root.to_python() for document in documents]


def problems(checker: Draft202012Validator, body: Any) -> list[str]:
    return [each.message for each in checker.iter_errors(body)]


def test_the_committed_schema_is_this_one(trainyard: Command) -> None:
    assert (ROOT / "docs" / "schema.json").read_text() == trainyard("schema").out
    Draft202012Validator.check_schema(committed().schema)


def test_a_document_of_an_unknown_kind_is_refused() -> None:
    (body,) = bodies(SPECS / "starter.yaml")
    body["kind"] = "TrainingClutser"
    (unknown,) = problems(committed(), body)
    assert unknown.startswith("'TrainingClutser' is not one of ['TrainingCluster'")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_held_to_its_own_keys(kind: str) -> None:
    head = {"apiVersion": "trainyard.dev/v1alpha1", "kind": kind, "colour": "red"}
    faults = problems(committed(), head)
    assert "Additional properties are not allowed ('colour' was unexpected)" in faults
    assert any(fault.endswith("is a required property") or "any of" in fault for fault in faults)


def test_every_definition_leads_somewhere() -> None:
    schema = committed().schema
    refs = set(re.findall(r'"#/([^"]+)"', json.dumps(schema)))
    for ref in refs:
        reduce(lambda part, key: part[key], ref.split("/"), schema)
    assert {f"$defs/{kind}" for kind in KINDS} <= refs


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SPECS).as_posix())
def test_every_spec_names_its_schema(path: Path) -> None:
    """In its first line, where editors look; the path leads there from ``specs/``, which these are copies of."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert found is not None, first
    original = ROOT / "specs" / path.relative_to(SPECS)
    schema = (original.parent / found[1]).resolve()
    assert schema == ROOT / "docs" / "schema.json"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SPECS).as_posix())
def test_every_spec_is_valid(path: Path) -> None:
    for body in bodies(path):
        checker = committed()
        assert problems(checker, body) == []
        broken = copy.deepcopy(body)
        broken["spec"]["nodeCuont"] = 1
        assert problems(checker, broken) == [
            "Additional properties are not allowed ('nodeCuont' was unexpected)"
        ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"region": 5}, "5 is not of type 'string'"),
        ({"platform": "gke"}, "'gke' is not of type 'object'"),
        ({"nodePools": []}, "[] should be non-empty"),
        ({"jobs": [{"name": "a"}]}, "'image' is a required property"),
    ],
)
def test_faults_are_found(change: dict[str, Any], fault: str) -> None:
    (body,) = bodies(SPECS / "starter.yaml")
    body["spec"].update(change)
    assert fault in problems(committed(), body)


BASE = {"apiVersion": "trainyard.dev/v1alpha1", "kind": "TrainingClusterBase"}


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"spec": {"tags": {"team": "a"}}}, []),
        (
            {
                "spec": {"nodePools": [{"name": "a100", "nodes": {"max": 4}}]},
                "metadata": {"name": "shared"},
            },
            [],
        ),
        ({"extends": ["a.yaml", "b.yaml"]}, []),
        ({"spec": {"tgas": {}}}, ["Additional properties are not allowed ('tgas' was unexpected)"]),
        ({"spec": {"region": 5}}, ["5 is not of type 'string'"]),
        (
            {"sepc": {}, "spec": {}},
            ["Additional properties are not allowed ('sepc' was unexpected)"],
        ),
    ],
)
def test_a_base_has_any_part_of_a_spec(change: dict[str, Any], faults: list[str]) -> None:
    assert problems(committed(), BASE | change) == faults


def test_a_spec_over_a_base_lacks_what_the_base_has() -> None:
    """And without one it lacks nothing but pools, which may stand in documents of their own."""
    checker = committed()
    body = BASE | {
        "kind": "TrainingCluster",
        "metadata": {"name": "small"},
        "spec": {"region": "us-west-2", "nodePools": [{"name": "a100", "nodes": {"max": 4}}]},
    }
    assert problems(checker, body | {"extends": "base.yaml"}) == []
    assert sorted(problems(checker, body)) == [
        "'account' is a required property",
        "'instanceTypes' is a required property",
    ]
    assert (
        problems(checker, body | {"spec": {"account": "111122223333", "region": "us-west-2"}}) == []
    )
    body["spec"]["regoin"] = "x"
    (found,) = problems(checker, body | {"extends": "base.yaml"})
    assert "'regoin' was unexpected" in found
