"""What tests of rules share: the built-in rules, and what they find in an example (``trainyard.run.examples``)."""

from __future__ import annotations

from functools import cache
from typing import Any

from trainyard.judge.policy.config import Config
from trainyard.judge.policy.load import load_rules
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.places import Document
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.run.examples import rehearse
from trainyard.run.examples.pages import DAY
from trainyard.run.examples.rehearse import WHOLE, base_set, base_spec, config_for, findings, merged
from trainyard.verify.formats import objects

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
