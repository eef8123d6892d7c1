"""The rules of a run, together with what the user set for them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from trainyard.judge.policy.config import NO_CONFIG, Config, load_config
from trainyard.judge.policy.load import load_rules
from trainyard.judge.policy.rule import Rule
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic


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
