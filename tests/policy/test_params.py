"""A parameter takes a value of its default's type, and a whole number where that is a number."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.judge.policy.params import refusal_of
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan

DEFAULTS: dict[str, Any] = {"count": 2, "ratio": 0.5, "strict": True, "word": "none", "names": []}
RULE = Rule(
    code="TST001",
    slug="test",
    severity=Severity.ERROR,
    doc="",
    subject=Plan,
    check=lambda plan: iter(()),
    params=DEFAULTS,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", 3),
        ("ratio", 0.25),
        ("ratio", 1),
        ("strict", False),
        ("word", "any"),
        ("names", ["a"]),
    ],
)
def test_a_value_of_the_type_is_taken(name: str, value: Any) -> None:
    assert refusal_of(RULE, name, value) is None


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("count", 2.5, "a whole number"),
        ("count", True, "a whole number"),
        ("ratio", True, "a number"),
        ("ratio", "half", "a number"),
        ("strict", 1, "`true` or `false`"),
        ("word", 3, "text"),
        ("names", {"a": 1}, "a list"),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, value: Any, wanted: str) -> None:
    refusal = refusal_of(RULE, name, value)
    assert refusal is not None
    assert refusal.message == f"parameter `{name}` of `TST001` is {wanted}"
    assert refusal.help == f"write {wanted}"


def test_a_parameter_that_a_rule_has_not() -> None:
    refusal = refusal_of(RULE, "coutn", 3)
    assert refusal is not None
    assert refusal.message == "rule `TST001` has no parameter `coutn`"
    assert "`count`" in refusal.help
