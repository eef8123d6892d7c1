"""What one rule says of an example: tables of tests hold messages by code."""

from __future__ import annotations

from dataclasses import replace

from trainyard.language.diagnostics import Diagnostic

from tests.policy.harness import TODAY, builtin_rules, config_for, findings_for


def found(code: str, text: str) -> list[Diagnostic]:
    """What the rule of a code finds in an example, by itself, with the parameters of the example."""
    (rule,) = (rule for rule in builtin_rules() if rule.code == code)
    config = config_for(rule, text, TODAY)
    if rule.enabled:
        config = replace(config, levels=TODAY.levels)
    return findings_for(text, rules=(rule,), config=config)


def said(code: str, text: str) -> list[str]:
    """Its messages."""
    return [each.message for each in found(code, text)]
