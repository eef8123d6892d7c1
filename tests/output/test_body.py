"""Ways through a body: one path, a pattern of paths, every value."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.output.body import mappings_at, texts_at, value_at, values_along, walk_values

BODY: dict[str, Any] = {
    "spec": {
        "containers": [
            {"name": "a", "env": [{"name": "X", "valueFrom": {"key": "k"}}, {"name": "Y"}]},
            {"name": "b", "command": ["run", 1, "fast"]},
            "no container",
        ],
        "empty": None,
    }
}


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ((), BODY),
        (("spec", "containers", 1, "name"), "b"),
        (("spec", "containers", 3), None),
        (("spec", "containers", "name"), None),
        (("spec", "empty", "deeper"), None),
        (("spec", "containers", 0, "name", "deeper"), None),
        (("absent",), None),
    ],
)
def test_one_path(keys: tuple[str | int, ...], value: Any) -> None:
    assert value_at(BODY, *keys) == value


def test_the_mappings_and_the_strings_of_a_list() -> None:
    names = [container["name"] for container in mappings_at(BODY, "spec", "containers")]
    assert names == ["a", "b"]
    assert texts_at(BODY, "spec", "containers") == ["no container"]
    assert texts_at(BODY, "spec", "containers", 1, "command") == ["run", "fast"]
    assert mappings_at(BODY, "spec", "empty") == texts_at(BODY, "spec") == []


def test_a_pattern_leads_to_each_value_with_its_path() -> None:
    pattern = ("spec", "containers", "*", "env", "*", "valueFrom")
    place = ("spec", "containers", 0, "env", 0, "valueFrom")
    assert list(values_along(BODY, pattern)) == [(place, {"key": "k"})]
    below = list(values_along(BODY["spec"], ("containers", "*", "name"), ("spec",)))
    assert below == [
        (("spec", "containers", 0, "name"), "a"),
        (("spec", "containers", 1, "name"), "b"),
    ]
    assert list(values_along(BODY, ("spec", "empty"))) == []
    assert list(values_along(BODY, ("spec", "*"))) == []


def test_every_value_parents_first() -> None:
    paths = [path for path, _ in walk_values({"a": [1, {"b": 2}], "c": {}}, ("top",))]
    assert paths == [
        ("top",),
        ("top", "a"),
        ("top", "a", 0),
        ("top", "a", 1),
        ("top", "a", 1, "b"),
        ("top", "c"),
    ]


def test_what_a_value_holds_that_stops_the_walk_is_left_out() -> None:
    body = {"a": {"Ref": "X"}, "b": [{"Ref": "Y"}]}
    visited = [value for _, value in walk_values(body, stop=lambda value: "Ref" in value)]
    assert visited == [body, {"Ref": "X"}, [{"Ref": "Y"}], {"Ref": "Y"}]
