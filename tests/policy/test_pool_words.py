"""A pool of several reservations is several NodePools, and findings name the pool that people wrote."""

from __future__ import annotations

import re
from typing import Any

import pytest
from builders import data_of, dumped
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic

from tests.policy.harness import TODAY, builtin_rules, config_for, findings_for

BLOCKS = {
    "block": {
        "reservations": [{"id": "cr-0a100000", "nodes": 3}, {"id": "cr-0b200000", "nodes": 2}]
    }
}


def in_two_blocks(text: str) -> dict[str, Any] | None:
    """The example of a spec with its first pool in two blocks; ``None`` where that says something else."""
    is_spec = re.search(r"^(jobs|nodePools):", text, re.MULTILINE)
    if not is_spec:
        return None
    data = data_of(text)
    pools = data.setdefault("nodePools", [{"name": "gpu"}])
    if not isinstance(pools, list) or not isinstance(pools[0], dict):
        return None
    capacity = pools[0].get("capacity")
    if capacity is not None and "block" not in capacity:
        return None
    pools[0] |= {"capacity": BLOCKS, "nodes": 5}
    return data


def said(found: Diagnostic) -> str:
    return f"{found.message} {found.label} {found.help}"


def found_in_two_blocks(rule: Rule) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for text in rule.fails:
        data = in_two_blocks(text)
        if data is not None:
            example = dumped(data)
            config = config_for(rule, text, TODAY)
            found += findings_for(example, rules=(rule,), config=config)
    return found


@pytest.mark.slow
def test_no_finding_names_a_node_pool_that_nobody_wrote() -> None:
    every = [each for rule in builtin_rules() for each in found_in_two_blocks(rule)]
    assert len(every) > 100
    assert [said(each) for each in every if "gpu-cr-0" in said(each)] == []
