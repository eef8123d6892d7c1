"""What tests of rules share: the built-in rules, and what they find in an example (``compiler.examples``)."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import Any

from compiler.diagnostics import Diagnostic
from compiler.examples.overlay import merged
from compiler.examples.rehearse import (
    WHOLE,
    base_set,
    base_spec,
    config_for,
    findings,
    from_document,
    from_spec,
    lifted,
)
from compiler.policy.config import Config
from compiler.policy.load import load_rules
from compiler.policy.rule import Rule

TODAY = Config(today=date(2026, 11, 21))
SPEC: dict[str, Any] = base_spec()
SET = list(base_set())

__all__ = [
    "SET",
    "SPEC",
    "TODAY",
    "WHOLE",
    "builtin_rules",
    "config_for",
    "findings_for",
    "from_document",
    "from_spec",
    "lifted",
    "merged",
]


@cache
def builtin_rules() -> tuple[Rule, ...]:
    """The built-in rules, all of which must load."""
    rules, faults = load_rules(None)
    assert not faults, faults
    return rules


def findings_for(
    text: str, *, rules: tuple[Rule, ...] | None = None, config: Config = TODAY
) -> list[Diagnostic]:
    """What the rules find in the example, laid over the base that it is a part of."""
    return findings(text, rules or builtin_rules(), config)
