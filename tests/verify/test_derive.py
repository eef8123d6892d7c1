"""The committed schemas: derived from what they name, without prose, complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trainyard.extensions.facts.core import CoreDefinitions, from_eksctl
from trainyard.extensions.facts.derive_schemas import kinds_by_place, main
from trainyard.language.re2 import compile_re2
from trainyard.verify import BUILTIN
from trainyard.verify.schemas import DATA, Schemas, file_name
from trainyard.verify.structure import children, structure
from trainyard.verify.syntax import SYNTAXES

from verify.conftest import TRAIN_JOB, upstream

FILES = sorted(DATA.glob("*.json"))
WORDS = {
    "type",
    "nullable",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "pattern",
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "format",
    "any",
    "list",
    "keys",
    "later",
    "rules",
    "syntax",
    "keySyntax",
    "$ref",
}


def nodes(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [schema, *(inner for child in children(schema) for inner in nodes(child))]


def test_a_release_that_lacks_the_definition_of_a_kind_is_named(tmp_path: Path) -> None:
    """A kind that is new, or that a release has no more."""
    folders = [tmp_path / "crds" / place for place in kinds_by_place()]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "SOURCE.txt").write_text("source: somewhere\n")
    with pytest.raises(SystemExit, match=r"no definition of .*NodePool.* in .*karpenter"):
        main([str(tmp_path), "--into", str(tmp_path)])


@pytest.mark.slow
def test_the_committed_files_are_what_the_command_derives(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(upstream("crds").parent), "--into", str(tmp_path)]) == 0
    assert f"{len(list(tmp_path.iterdir()))} schemas" in capsys.readouterr().out
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (DATA / path.name).read_bytes(), path.name
    elsewhere = {
        file_name("trainer.kubeflow.org", "v1alpha1", kind, "2.1")
        for kind in ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")
    }
    derived = {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in FILES} - derived == elsewhere


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_names_its_source_and_holds_structure_only(path: Any) -> None:
    raw = json.loads(path.read_text())
    assert raw["project"]
    assert raw["release"].startswith("v")
    assert raw["source"]
    assert raw["scope"] in ("Namespaced", "Cluster")
    for schema in (raw["schema"], *raw["defs"]):
        for node in nodes(schema):
            assert set(node) <= WORDS
            assert node.get("syntax", "cidr").removesuffix("?") in SYNTAXES
            if "pattern" in node:
                compile_re2(node["pattern"])


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FILES) < 860_000
    assert max(path.stat().st_size for path in FILES) < 40_000


def test_an_unknown_keyword_is_not_dropped_in_silence() -> None:
    with pytest.raises(ValueError, match="x-kubernetes-future"):
        structure({"type": "object", "x-kubernetes-future": True})


def test_a_folder_of_a_users_own_comes_first(tmp_path: Any) -> None:
    own = {
        "group": "example.com",
        "version": "v1",
        "kind": "Thing",
        "scope": "Namespaced",
        "project": "p",
        "release": "v1",
        "source": "s",
        "schema": {"type": "object", "properties": {"spec": {"type": "integer"}}},
        "defs": [],
    }
    (tmp_path / file_name("example.com", "v1", "Thing")).write_text(json.dumps(own))
    schemas = Schemas((tmp_path, DATA))
    assert schemas.find("example.com/v1", "Thing")[0].project == "p"
    assert schemas.find("v1", "Pod")[0].project == "kubernetes-core"
    assert BUILTIN.find("example.com/v1", "Thing") == ()


@pytest.mark.parametrize(
    "name", [("../v1", "Pod"), ("v1", "../Pod"), ("a/b/v1", "Pod"), ("v1", "*"), ("", "Pod")]
)
def test_odd_names_find_nothing(name: tuple[str, str]) -> None:
    assert BUILTIN.find(*name) == ()


def test_trainer_2_1_has_its_own_form() -> None:
    from trainyard.verify import validate_body

    old = {
        **TRAIN_JOB,
        "spec": {
            "runtimeRef": {"name": "torch"},
            "trainer": {"numProcPerNode": "auto"},
            "podTemplateOverrides": [
                {"targetJobs": [{"name": "node"}], "spec": {"nodeSelector": {"pool": "a100"}}}
            ],
        },
    }
    assert validate_body(old) == []  # nothing pinned: the release that it fits
    assert validate_body(old, schemas=Schemas(pinned={"trainer.kubeflow.org": "2.1"})) == []
    newest = validate_body(old, schemas=Schemas(pinned={"trainer.kubeflow.org": "2.3"}))
    assert {(fault.code, fault.path[-1]) for fault in newest} == {
        ("SCH001", "podTemplateOverrides"),
        ("SCH002", "numProcPerNode"),
    }
    new = validate_body(TRAIN_JOB, schemas=Schemas(pinned={"trainer.kubeflow.org": "2.1"}))
    assert {(fault.code, fault.path[-1]) for fault in new} == {("SCH001", "runtimePatches")}


def test_a_bound_of_the_newest_form_does_not_make_a_body_one_of_an_older() -> None:
    from trainyard.verify import validate_body

    variables = [{"name": f"V{number}", "value": "v"} for number in range(501)]
    job = {
        **TRAIN_JOB,
        "spec": {
            "runtimeRef": {"name": "torch"},
            "activeDeadlineSeconds": 3600,
            "trainer": {"env": variables},
        },
    }
    assert [(fault.code, fault.path) for fault in validate_body(job)] == [
        ("SCH005", ("spec", "trainer", "env"))
    ]


def test_what_is_declared_as_an_object_without_fields_takes_any() -> None:
    """As RawExtension and JSON are; a reference, a list and a map have what they are made of."""
    named = {"type": "object", "properties": {"name": {"type": ["string", "null"]}}}
    definitions: dict[str, Any] = {
        "io.k8s.api.demo.v1.Part": named,
        "io.k8s.api.demo.v1.Whole": {
            "type": "object",
            "properties": {
                "part": {"$ref": "#/definitions/io.k8s.api.demo.v1.Part"},
                "parts": {"type": "array", "items": {"$ref": "x/io.k8s.api.demo.v1.Part"}},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "raw": {"type": ["object", "null"]},
                "json": {},
            },
        },
    }
    whole = CoreDefinitions(definitions).definition("io.k8s.api.demo.v1.Whole")
    part = {"type": "object", "properties": {"name": {"type": "string"}}}
    any_key = "x-kubernetes-preserve-unknown-fields"
    assert whole == {
        "type": "object",
        "properties": {
            "part": part,
            "parts": {"type": "array", "items": part},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "raw": {"type": "object", any_key: True},
            "json": {any_key: True},
        },
    }


def test_a_definition_of_itself_is_refused() -> None:
    """JSONSchemaProps is one: the derived form has no references to follow."""
    name = "io.k8s.api.demo.v1.Tree"
    below = {"type": "array", "items": {"$ref": f"#/definitions/{name}"}}
    tree: dict[str, Any] = {"type": "object", "properties": {"children": below}}
    with pytest.raises(ValueError, match="Tree` contains itself"):
        CoreDefinitions({name: tree}).definition(name)


@pytest.mark.parametrize(
    ("schema", "derived"),
    [
        (
            {"minimum": 1, "exclusiveMinimum": True, "maximum": 3, "exclusiveMaximum": False},
            {"exclusiveMinimum": 1, "maximum": 3},
        ),
        (
            {"exclusiveMinimum": 1, "exclusiveMaximum": 3},
            {"exclusiveMinimum": 1, "exclusiveMaximum": 3},
        ),
        (
            {"anyOf": [{"type": "integer", "description": "prose"}, {"type": "string"}]},
            {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        ),
        (
            {"anyOf": [{"type": "integer"}], "x-kubernetes-int-or-string": True},
            {"type": ["integer", "string"]},
        ),
        ({"x-kubernetes-preserve-unknown-fields": False}, {}),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"any": True}),
    ],
)
def test_keywords_in_the_derived_form(schema: dict[str, Any], derived: dict[str, Any]) -> None:
    assert structure(schema) == derived


def test_a_single_alternative_of_eksctl_is_the_form_itself() -> None:
    """With the fields that stand beside it, if any do."""
    base = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    definitions: dict[str, Any] = {
        "Base": base,
        "Alone": {"oneOf": [{"$ref": "#/definitions/Base"}]},
        "More": {
            "oneOf": [{"$ref": "#/definitions/Base"}],
            "properties": {"b": {"type": "integer"}},
            "required": ["b"],
        },
    }
    document = {"definitions": definitions}
    assert from_eksctl(document, "Alone") == base
    assert from_eksctl(document, "More") == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    }
