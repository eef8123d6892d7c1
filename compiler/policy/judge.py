"""The rules of a run, together with what the user set for them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from compiler.dataclass import dataclass
from compiler.diagnostics import Diagnostic
from compiler.policy.config import NO_CONFIG, Config, load_config
from compiler.policy.load import load_rules
from compiler.policy.rule import Rule


@dataclass(frozen=True, slots=True)
class Policies:
    """Rules, and their levels, parameters and exceptions."""

    rules: tuple[Rule, ...]
    config: Config = NO_CONFIG


def load_policies(folder: Path | None, *, today: date) -> tuple[Policies, list[Diagnostic]]:
    """The built-in rules and those of a folder, with its ``policy.yaml`` and ``exceptions.yaml``."""
    rules, faults = load_rules(folder)
    config, more = load_config(folder, rules, today)
    if faults:  # a rule that could not be loaded is not unknown
        more = [fault for fault in more if fault.code != "POL003"]
    return Policies(rules, config), [*faults, *more]
