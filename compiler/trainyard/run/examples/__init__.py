"""Runs the examples of rules: a rule must find what `Fails` shows, and nothing in what `Passes` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trainyard.judge.policy.config import Config
from trainyard.judge.policy.load import line_of
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.run.examples.rehearse import UnusableExampleError, config_for, findings


def judged(rules: Sequence[Rule], config: Config) -> list[Diagnostic]:
    """Every example of the rules that does not hold, at the line where its rule begins."""
    faults: list[Diagnostic] = []
    for rule in rules:
        faults += _judge_rule(rule, config)
    return faults


def _judge_rule(rule: Rule, config: Config) -> Iterator[Diagnostic]:
    for number, text in enumerate(rule.fails, 1):
        which = f"example {number} under `Fails`"
        yield from _example(rule, which, text, config, finds=True)
    for number, text in enumerate(rule.passes, 1):
        which = f"example {number} under `Passes`"
        yield from _example(rule, which, text, config, finds=False)


def _example(
    rule: Rule, which: str, text: str, config: Config, *, finds: bool
) -> Iterator[Diagnostic]:
    try:
        reported = findings(text, (rule,), config_for(rule, text, config))
    except UnusableExampleError as fault:
        yield _fault(
            rule,
            f"{which} of rule `{rule.code}` cannot be judged: {fault}",
            "write keys of a `spec`, or whole manifests; the base has a job `llama` and a pool `gpu`",
        )
        return
    others = [finding for finding in reported if finding.code != rule.code]
    if others:
        other = others[0]
        yield _fault(
            rule,
            f"{which} of rule `{rule.code}` gives {other.code}: {other.message}",
            "correct the rule",
        )
    elif finds and not reported:
        yield _fault(
            rule, f"rule `{rule.code}` finds nothing in {which}", "correct the rule, or the example"
        )
    elif reported and not finds:
        message = reported[0].message
        yield _fault(
            rule,
            f"rule `{rule.code}` finds something in {which}: {message}",
            "correct the rule, or the example",
        )


def _fault(rule: Rule, message: str, help: str) -> Diagnostic:
    line = rule.check.__code__.co_firstlineno
    span = line_of(Path(rule.file), line)
    return error("POL020", message, at=span, help=help)


__all__ = ["judged"]
