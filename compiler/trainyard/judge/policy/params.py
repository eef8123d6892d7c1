"""Values for the parameters of a rule, from ``policy.yaml`` or from an example."""

from __future__ import annotations

from typing import Any

from trainyard.judge.policy.rule import Rule
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed

_TYPES = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "`true` or `false`",
    list: "a list",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a value cannot be taken, and what to write."""

    message: str
    help: str


def refusal_of(rule: Rule, name: str, value: Any) -> Refusal | None:
    """Why a rule cannot take a value for a parameter; ``None`` where it can.

    A value has the type of the parameter's default; a whole number is a number too.
    """
    if name not in rule.params:
        known = "it takes none: remove it"
        if rule.params:
            known = f"it has {listed(rule.params)}"
        return Refusal(f"rule `{rule.code}` has no parameter `{name}`", known)
    given = type(value)
    wanted = type(rule.params[name])
    if given is wanted:
        return None
    if given is int and wanted is float:
        return None
    what = _TYPES.get(wanted, "a mapping")
    fact = f"parameter `{name}` of `{rule.code}` is {what}"
    return Refusal(fact, f"write {what}")
