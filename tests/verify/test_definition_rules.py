"""Rules of definitions: the two functions given, failing closed, old values, defaults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from trainyard import verify
from trainyard.verify.definition_rules import rule_faults, update_faults
from trainyard.verify.node import Node, NodeTable
from trainyard.verify.rule_words import LIST, SAID, in_words

DATA = Path(verify.__file__).with_name("data")


def node(*rules: str, **more: Any) -> Node:
    return NodeTable([]).node({"type": "object", "rules": list(rules), **more})


@pytest.mark.parametrize(
    ("rule", "codes"),
    [
        ("self.a == 1", []),
        ("self.a == 2", ["SCH008"]),
        ("self.missing == 1", ["SCH008"]),
        ("'a-12'.find('[0-9]+$') == '12'", []),
        ("'a@b'.split('@')[1] == 'b'", []),
        ("'ab'.split('') == ['a', 'b']", []),
        ("isQuantity('1')", ["SCH009"]),
        ("self.a.future()", ["SCH009"]),
        ("self.a ==", ["SCH009"]),
        ("self.a", ["SCH008"]),
        ("oldSelf.a == self.a", []),
    ],
)
def test_a_rule_holds_only_if_it_is_true(rule: str, codes: list[str]) -> None:
    assert [fault.code for fault in rule_faults(node(rule), {"a": 1})] == codes


def test_rules_of_scalars_in_a_list_are_asked_of_each() -> None:
    item = {"type": "string", "rules": ["self != ''"]}
    schema = node(properties={"l": {"type": "array", "list": "map", "keys": ["k"], "items": item}})
    found = rule_faults(schema, {"l": ["a", ""]})
    assert [(fault.code, fault.path) for fault in found] == [("SCH008", ("l", 1))]


def test_update_rules_see_the_old_value_by_list_key() -> None:
    items = {
        "type": "object",
        "rules": ["self.v == oldSelf.v"],
        "properties": {"k": {"type": "string"}, "v": {"type": "integer"}},
    }
    schema = node(properties={"l": {"type": "array", "list": "map", "keys": ["k"], "items": items}})
    old = {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]}
    new = {"l": [{"k": "c", "v": 3}, {"k": "b", "v": 3}, {"k": "a", "v": 1}]}
    assert [(fault.code, fault.path) for fault in update_faults(schema, new, old)] == [
        ("SCH008", ("l", 1))
    ]


def test_defaults_are_there_when_rules_run() -> None:
    schema = node(
        "self.mode == 'Never'", properties={"mode": {"type": "string", "default": "Never"}}
    )
    assert rule_faults(schema, {}) == []
    assert rule_faults(schema, {"mode": None}) == []


def test_two_rules_for_the_same_thing_see_whole_items() -> None:
    schema = node(
        properties={
            "l": {
                "type": "array",
                "rules": ["size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            }
        }
    )
    assert rule_faults(schema, {"l": [{"name": "a"}, {"name": "b"}]}) == []
    assert len(rule_faults(schema, {"l": [{"name": "a"}, {"name": "a"}]})) == 1


@pytest.mark.parametrize(
    ("rule", "value", "places"),
    [
        ("self.all(x, x.size() < 3)", ["a", "bbb", "cccc"], [("v", 1), ("v", 2)]),
        ("!self.exists(x, x == 'bbb')", ["a", "bbb"], [("v", 1)]),
        ("self.all(k, k != 'b' && self[k] != '')", {"a": "1", "b": "1"}, [("v", "b")]),
        ("self.size() == 1", ["a", "b"], [("v", 1)]),
        ("self.all(x, self.size() == 1)", ["a", "b"], [("v", 1)]),
        ("self.exists(x, x == 'c') ? true : self.size() == 0", ["a", "b"], [("v",)]),
        ("self.size() == 0 || self.exists(x, x == 'c')", ["a", "b"], [("v",)]),
    ],
)
def test_of_a_rule_about_all_items_those_that_break_it_are_named(
    rule: str, value: Any, places: list[tuple[str | int, ...]]
) -> None:
    schema = node(properties={"v": {"rules": [rule]}})
    assert [fault.path for fault in rule_faults(schema, {"v": value})] == places


def test_every_rule_that_is_committed_has_words_and_no_words_are_left() -> None:
    """A person reads what is wrong, not the expression. Rules of updates are said by the history of a cluster."""
    rules = {
        " ".join(rule.split())
        for path in DATA.glob("*.json")
        for rule in rules_in(json.loads(path.read_text()))
        if "oldSelf" not in rule
    }
    assert [rule for rule in rules if in_words(rule, {}, "x") is None] == []
    assert set(SAID) - {LIST.sub("[…]", rule) for rule in rules} == set()


def rules_in(raw: Any) -> Iterator[str]:
    """The rules of all nodes of a committed schema."""
    if isinstance(raw, dict):
        for key, value in raw.items():
            if key == "rules" and isinstance(value, list) and isinstance(value[0], str):
                yield from value
            else:
                yield from rules_in(value)
    elif isinstance(raw, list):
        for value in raw:
            yield from rules_in(value)
