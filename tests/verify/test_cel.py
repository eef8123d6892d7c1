"""CEL rules: the two functions given, failing closed, old values, and the answer without the package."""

from __future__ import annotations

from typing import Any

import pytest

from compiler.verify import cel
from compiler.verify.node import Node, NodeTable

needs_cel = pytest.mark.skipif(
    not cel.available(), reason="common-expression-language is not installed"
)


def node(*rules: str, **more: Any) -> Node:
    return NodeTable([]).node({"type": "object", "rules": list(rules), **more})


@needs_cel
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
    assert [fault.code for fault in cel.evaluate(node(rule), {"a": 1})] == codes


@needs_cel
def test_rules_of_scalars_in_a_list_are_asked_of_each() -> None:
    item = {"type": "string", "rules": ["self != ''"]}
    schema = node(properties={"l": {"type": "array", "list": "map", "keys": ["k"], "items": item}})
    for old in (None, {"l": ["a", "b"]}):
        found = cel.evaluate(schema, {"l": ["a", ""]}, old)
        assert [(fault.code, fault.path) for fault in found] == [("SCH008", ("l", 1))]


@needs_cel
def test_update_rules_see_the_old_value_by_list_key() -> None:
    items = {
        "type": "object",
        "rules": ["self.v == oldSelf.v"],
        "properties": {"k": {"type": "string"}, "v": {"type": "integer"}},
    }
    schema = node(properties={"l": {"type": "array", "list": "map", "keys": ["k"], "items": items}})
    old = {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]}
    new = {"l": [{"k": "c", "v": 3}, {"k": "b", "v": 3}, {"k": "a", "v": 1}]}
    assert [(fault.code, fault.path) for fault in cel.evaluate(schema, new, old)] == [
        ("SCH008", ("l", 1))
    ]


@needs_cel
def test_defaults_are_there_when_rules_run() -> None:
    schema = node(
        "self.mode == 'Never'", properties={"mode": {"type": "string", "default": "Never"}}
    )
    assert cel.evaluate(schema, {}) == []
    assert cel.evaluate(schema, {"mode": None}) == []


def test_without_the_package_a_warning_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cel, "available", lambda: False)
    (fault,) = cel.evaluate(node("self.a == 2"), {"a": 1})
    assert (fault.code, fault.warning) == ("SCH009", True)
    assert cel.evaluate(node(), {"a": 1}) == []
