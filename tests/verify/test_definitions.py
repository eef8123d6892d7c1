"""Kinds that only a CustomResourceDefinition among the objects knows: judged by its schema, as the API server does."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.output.manifest import Manifest
from trainyard.verify import verify

Raw = dict[str, Any]
NAMESPACE: Raw = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
INT_OR_STRING = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
PAIRS = {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}}
REPEATED = {"type": "object", "allOf": [{"required": ["a"]}], "properties": {"a": NUMBER}}


def definition(schema: Raw, kind: str = "Thing", group: str = "example.com") -> Raw:
    name = kind.lower()
    whole = {"type": "object", "properties": {"spec": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}s.{group}"},
        "spec": {
            "group": group,
            "names": {
                "kind": kind,
                "plural": f"{name}s",
                "singular": name,
                "listKind": f"{kind}List",
            },
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": whole},
                }
            ],
        },
    }


def thing(spec: Any, kind: str = "Thing", group: str = "example.com") -> Raw:
    return {
        "apiVersion": f"{group}/v1",
        "kind": kind,
        "metadata": {"name": "t", "namespace": "a"},
        "spec": spec,
    }


def reported(*bodies: Raw) -> list[tuple[str, str, str]]:
    """What is said of objects other than the definition, which is of a kind without a schema itself."""
    found = [
        (str(each.at).partition("."), each)
        for each in verify([Manifest(body) for body in (NAMESPACE, *bodies)])
    ]
    return [
        (each.code, place, each.message)
        for (name, _, place), each in found
        if not name.startswith("@CustomResourceDefinition")
    ]


@pytest.mark.parametrize(
    ("schema", "right", "wrong", "code", "place", "message"),
    [
        (
            {"type": "object", "properties": PAIRS["properties"], "not": {"required": ["a", "b"]}},
            {"a": 1},
            {"a": 1, "b": 1},
            "SCH013",
            "spec",
            "this value is a form that is excluded",
        ),
        (
            {**PAIRS, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"a": 1, "b": 1},
            {},
            "SCH013",
            "spec",
            "this value fits none of the forms allowed",
        ),
        (
            {**PAIRS, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"b": 1},
            {"a": 1, "b": 1},
            "SCH013",
            "spec",
            "this value fits 2 of the forms, and exactly one is allowed",
        ),
        (
            {**PAIRS, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"a": 1},
            {},
            "SCH013",
            "spec",
            "this value fits none of the forms, and exactly one is allowed",
        ),
        (
            {**PAIRS, "allOf": [{"properties": {"a": {"minimum": 2}}}, {"required": ["b"]}]},
            {"a": 2, "b": 1},
            {"a": 1, "b": 1},
            "SCH005",
            "spec.a",
            "1 is not at least 2",
        ),
        # a branch says nothing of the fields that it does not name
        (
            {**PAIRS, "allOf": [{"properties": {"a": {"type": "integer"}}}]},
            {"b": 1},
            {"c": 1},
            "SCH001",
            "spec.c",
            "unknown field `c` in `spec`",
        ),
        # what is there twice is shared
        (
            {"type": "object", "properties": {"x": REPEATED, "y": REPEATED}},
            {"x": {"a": 1}},
            {"y": {}},
            "SCH003",
            "spec.y.a",
            "`a` is missing",
        ),
        (
            {"type": "number", "minimum": 0, "exclusiveMinimum": True},
            0.5,
            0,
            "SCH005",
            "spec",
            "0 is not above 0",
        ),
        (
            {"type": "number", "minimum": 0, "exclusiveMinimum": False},
            0,
            -1,
            "SCH005",
            "spec",
            "-1 is not at least 0",
        ),
        ({**INT_OR_STRING, "minimum": 1}, "50%", 0, "SCH005", "spec", "0 is not at least 1"),
        (
            INT_OR_STRING,
            "50%",
            True,
            "SCH002",
            "spec",
            "a boolean where a string or an integer is expected",
        ),
        ({"type": "integer", "enum": [1, 2]}, 2, 3, "SCH004", "spec", "`3` is not one of `1`, `2`"),
        (
            {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
            ["a", "b"],
            ["a", "b", "a"],
            "SCH007",
            "spec[2]",
            "`a` is already item 0 of this list",
        ),
        # a key that the items do not declare
        (
            {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
            [{"name": "a"}, {"name": "b"}],
            [{"a": 1}, {"a": 2}],
            "SCH007",
            "spec[1]",
            "an item is already item 0 of this list",
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False, "properties": {}},
            {},
            {"a": 1},
            "SCH001",
            "spec.a",
            "unknown field `a` in `spec`",
        ),
    ],
)
def test_a_value_is_judged_by_the_schema_of_its_definition(
    schema: Raw, right: Any, wrong: Any, code: str, place: str, message: str
) -> None:
    assert reported(definition(schema), thing(right)) == []
    assert reported(definition(schema), thing(wrong)) == [(code, place, message)]


def test_a_pattern_that_is_none_is_reported_and_not_taken_for_kept() -> None:
    """A flag of Python's, which Go has not."""
    found = reported(definition({"type": "string", "pattern": "(?u)a"}), thing("a"))
    assert found == [("SCH009", "spec", "the pattern `(?u)a` cannot be evaluated here")]


def test_a_pattern_that_is_nested_too_deeply_leaves_its_kind_unknown() -> None:
    pattern = "(" * 3000 + "a" + ")" * 3000
    found = reported(definition({"type": "string", "pattern": pattern}), thing("a"))
    assert [code for code, *_ in found] == ["SCH010"]


def test_a_kind_of_another_group_is_not_judged_as_its_namesake() -> None:
    """Kubernetes' Job cannot have pods that always restart; Volcano's says nothing of it."""
    pods = {"spec": {"containers": [], "restartPolicy": "Always"}}
    job = thing({"template": pods}, "Job", "batch.volcano.sh")
    open_schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert reported(definition(open_schema, "Job", "batch.volcano.sh"), job) == []


def test_a_kind_that_is_known_keeps_its_schema() -> None:
    """A definition of an older release does not replace the one at hand."""
    pool = {**thing({}, "NodePool", "karpenter.sh"), "metadata": {"name": "t"}}
    found = reported(definition({"type": "object"}, "NodePool", "karpenter.sh"), pool)
    assert ("SCH003", "spec.template", "`template` is missing") in found


def test_a_value_that_two_branches_take_for_different_things() -> None:
    """What is corrected for the one has no place for the other."""
    schema = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "allOf": [
            {"properties": {"a": {"type": "array"}}},
            {"properties": {"a": {"properties": {"b": {"type": "integer"}}}}},
        ],
    }
    found = reported(definition(schema), thing({"a": {"b": "1"}}))
    assert [each[:2] for each in found] == [("SCH002", "spec.a"), ("SCH002", "spec.a.b")]
