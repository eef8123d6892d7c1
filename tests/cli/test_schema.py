"""The schemas that editors use: they take what the compiler takes, and refuse an unknown key."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from running import ROOT, SPECS, Command
from schemas import committed
from trainyard.language.places import SourceFile
from trainyard.language.source.parse import parse
from trainyard.run.language.schema import ALL, KINDS

pytestmark = pytest.mark.slow

FILES = sorted(SPECS.rglob("*.yaml"))


def bodies(path: Path) -> list[Any]:
    """The documents of a spec, read as YAML 1.2, as editors do."""
    documents, faults = parse(SourceFile(path.name, path.read_text(encoding="utf-8")))
    assert not faults
    return [document.root.to_python() for document in documents]


def problems(checker: Draft202012Validator, body: Any) -> list[str]:
    return [each.message for each in checker.iter_errors(body)]


def test_the_default_is_the_cluster(trainyard: Command) -> None:
    assert trainyard("schema").out == trainyard("schema", "TrainingCluster").out


@pytest.mark.parametrize("kind", KINDS)
def test_the_committed_schema_is_this_one(kind: str, trainyard: Command) -> None:
    assert (ROOT / "docs" / "schema" / f"{kind.lower()}.json").read_text() == trainyard(
        "schema", kind
    ).out


def test_one_schema_for_a_folder_of_several_kinds(trainyard: Command) -> None:
    """It says of every shipped document what the schema of its kind says, and of any other that its kind is unknown."""
    text = (ROOT / "docs" / "schema" / "trainyard.json").read_text()
    assert trainyard("schema", ALL).out == text
    checker = committed("trainyard")
    Draft202012Validator.check_schema(checker.schema)  # which holds that of each kind
    for path in FILES:
        for body in bodies(path):
            assert problems(checker, body) == []
            broken = copy.deepcopy(body)
            broken["spec"]["nodeCuont"] = 1
            own = problems(committed(body["kind"]), broken)
            assert problems(checker, broken) == own != []
    (body,) = bodies(SPECS / "starter.yaml")
    body["kind"] = "TrainingClutser"
    (unknown,) = problems(checker, body)
    assert unknown.startswith("'TrainingClutser' is not one of ['TrainingCluster'")


def test_every_definition_of_the_one_schema_is_reached(trainyard: Command) -> None:
    schema = json.loads(trainyard("schema", ALL).out)
    refs = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(schema)))
    assert refs <= schema["$defs"].keys()
    assert set(KINDS) <= refs


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SPECS).as_posix())
def test_every_spec_names_its_schema(path: Path) -> None:
    """In its first line, where editors look; the path leads there from ``specs/``, which these are copies of."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert found is not None, first
    original = ROOT / "specs" / path.relative_to(SPECS)
    schema = (original.parent / found[1]).resolve()
    kinds = {body["kind"].lower() for body in bodies(path)}
    expected = kinds.pop() if len(kinds) == 1 else "trainyard"
    assert schema == ROOT / "docs" / "schema" / f"{expected}.json"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SPECS).as_posix())
def test_every_spec_is_valid(path: Path) -> None:
    for body in bodies(path):
        checker = committed(body["kind"])
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
    assert fault in problems(committed("TrainingCluster"), body)


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
    assert problems(committed("TrainingClusterBase"), BASE | change) == faults


def test_a_spec_over_a_base_lacks_what_the_base_has() -> None:
    """And without one it lacks nothing but pools, which may stand in documents of their own."""
    checker = committed("TrainingCluster")
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
