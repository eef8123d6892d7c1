"""What tests of rules share: the built-in rules, and what they find in an example (``compiler.examples``)."""

from __future__ import annotations

from functools import cache
from typing import Any

from compiler.diagnostics import Diagnostic
from compiler.examples import rehearse
from compiler.examples.overlay import merged
from compiler.examples.pages import DAY
from compiler.examples.rehearse import WHOLE, base_set, base_spec, config_for, findings
from compiler.formats import objects
from compiler.manifest import Manifest
from compiler.places import Document
from compiler.plan import Plan
from compiler.policy.config import Config
from compiler.policy.load import load_rules
from compiler.policy.rule import Rule

TODAY = Config(today=DAY)
OF_SECRETS = {"ACC014", "RUN024", "RUN051", "RUN064"}
SPEC: dict[str, Any] = base_spec()
SET = list(base_set())

__all__ = [
    "SET",
    "SPEC",
    "TODAY",
    "WHOLE",
    "assert_hides_secrets",
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
    found = findings(text, rules or builtin_rules(), config)
    assert_hides_secrets(found)
    return found


def assert_hides_secrets(found: list[Diagnostic]) -> None:
    """Whatever is found about a secret says so, and its value is never shown."""
    for each in found:
        assert each.secret == (each.code in OF_SECRETS), each.message


def lifted(text: str) -> tuple[Plan, list[Manifest]]:
    """The plan of an example, and its objects."""
    plan, artifacts = rehearse.lifted(text)
    return plan, objects(artifacts)


def from_spec(text: str) -> tuple[Plan, list[Manifest]]:
    """The plan of a spec, and its objects."""
    plan, artifacts = rehearse.from_spec(text)
    return plan, objects(artifacts)


def from_document(document: Document) -> tuple[Plan, list[Manifest]]:
    """The plan of a parsed spec, and its objects."""
    plan, artifacts = rehearse.from_document(document)
    return plan, objects(artifacts)
