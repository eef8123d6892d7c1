"""What this repository holds of its team: its specs, its policies, and what they compile to.

These tests are true of any specs and policies: `make test-specs` runs them alone. All other tests are Trainyard's own,
and use the specs of tests/example.
"""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest
from running import EXAMPLE, ROOT, contents, spawn

from compiler.policy import load_policies
from compiler.policy.rule import Rule
from tests.policy.harness import builtin_rules, findings_for

TODAY = date.today()
BUILTIN = {rule.code for rule in builtin_rules()}
POLICIES, FAULTS = load_policies(ROOT / "policies", today=TODAY)
RULES = [rule for rule in POLICIES.rules if rule.code not in BUILTIN]
FAILS = [(rule, index) for rule in RULES for index in range(len(rule.fails))]
PASSES = [(rule, index) for rule in RULES for index in range(len(rule.passes))]


def _id(value: object) -> str:
    return value.code if isinstance(value, Rule) else str(value)


def test_generated_is_what_the_specs_compile_to() -> None:
    done = spawn("compile", "--check", "specs", cwd=ROOT)
    assert done.code == 0, f"\n{done.out}{done.err}"


def test_policies_can_be_loaded() -> None:
    assert [(fault.code, fault.message) for fault in FAULTS] == []


@pytest.mark.parametrize(("rule", "index"), FAILS, ids=_id)
def test_a_rule_finds_what_its_page_shows(rule: Rule, index: int) -> None:
    found = findings_for(rule.fails[index], rules=(rule,))
    assert {finding.code for finding in found} == {rule.code}


@pytest.mark.parametrize(("rule", "index"), PASSES, ids=_id)
def test_a_rule_lets_pass_what_its_page_shows(rule: Rule, index: int) -> None:
    assert findings_for(rule.passes[index], rules=(rule,)) == []


@pytest.mark.skipif(contents(ROOT / "specs") != contents(EXAMPLE / "specs"), reason="specs/ holds a team's own")
def test_no_example_was_ever_submitted(tmp_path: Path) -> None:
    """So nothing is kept as it was. After a change that was meant: `make compile ARGS=--replace`, and read the diff."""
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    assert spawn("compile", "specs", cwd=tmp_path).code == 0
    assert contents(tmp_path / "generated") == contents(ROOT / "generated")
