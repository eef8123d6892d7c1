"""What a help says is right: where it names an edit of the spec that a machine can make, the finding is gone after it,
no other one comes, and model, data and number of nodes of the job stay.

Such edits are "remove it", "write `value`" and "write `key: value`", over the examples of all rules' pages.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from drawn import at_least, drawn, reasons_of
from trainyard.catalog import load_catalog
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.source.libyaml import DUMPER, LOADER, yaml
from trainyard.run.examples.rehearse import UnusableExampleError, base_spec, config_for, from_spec
from trainyard.run.passes import traced
from trainyard.verify.formats import objects

from tests.policy.harness import TODAY, builtin_rules, merged

pytestmark = pytest.mark.slow

Spec = dict[str, Any]
Path = tuple[str | int, ...]
STEP = re.compile(r'\["([^"]*)"\]|\[(\d+)\]|([^.\[\]]+)')
WRITE = re.compile(r"(?:write|set|add) ((?:`[^`]+`(?:, )?)+)")
NOT_ALONE = {
    "LIM020": "it says that the pool has fewer nodes at most, and is to have more, too",
    "RUN036": "`remove it` is one half: the program is to be started by torchrun",
    "RUN096": "the option is a word more, and none in the place of another",
}
"""Helps of which an edit by machine makes a part, and what is left."""


class Case(NamedTuple):
    """A finding of an example of a rule, in the spec that it is a part of."""

    rule: Rule
    example: str
    spec: Spec
    finding: Diagnostic
    before: frozenset[str]
    at: Path


def judged(spec: Spec, rule: Rule, example: str) -> list[Diagnostic]:
    """What all rules find in a spec, at its keys."""
    plan, artifacts = from_spec(yaml.dump(spec, Dumper=DUMPER))
    config = config_for(rule, example, TODAY)
    found = run(plan, load_catalog(), builtin_rules(), config, objects(artifacts))
    at_keys = zip(found, traced(found, artifacts), strict=True)
    return [replace(each, at=placed.at or each.at) for each, placed in at_keys]


def cases(rules: Iterable[Rule]) -> Iterator[Case]:
    for rule in rules:
        for example in rule.fails:
            try:
                parts = list(yaml.load_all(example, Loader=LOADER))
            except yaml.YAMLError:
                continue
            if not isinstance(parts[0], dict) or {"kind", "Resources"} & parts[0].keys():
                continue
            spec = merged(copy.deepcopy(base_spec()), {"spec": parts[0]})
            try:
                found = judged(spec, rule, example)
            except UnusableExampleError:
                continue
            before = frozenset(each.code for each in found)
            for finding in found:
                if finding.code == rule.code and str(finding.at).startswith("spec"):
                    at = path_of(str(finding.at))
                    yield Case(rule, example, spec, finding, before, at)


def path_of(route: str) -> Path:
    return tuple(
        int(index) if index else quoted or name for quoted, index, name in STEP.findall(route)
    )


def value_at(spec: Spec, path: Path) -> Any:
    value: Any = spec
    for key in path:
        value = value[key]
    return value


def edited(case: Case) -> Iterator[Spec]:
    """The spec after the edit that the help names, at each place where it may be meant; none where it names no such
    edit."""
    try:
        value = value_at(case.spec, case.at)
    except (KeyError, IndexError):
        return
    if re.match(r"remove it\b", case.finding.help):
        spec = copy.deepcopy(case.spec)
        del value_at(spec, case.at[:-1])[case.at[-1]]
        yield spec
        return
    named = WRITE.match(case.finding.help)
    if named is None or "…" in named[1] or "..." in named[1]:
        return
    wanted = [yaml.load(text, Loader=LOADER) for text in re.findall(r"`([^`]+)`", named[1])]
    if all(isinstance(each, dict) and None not in each.values() for each in wanted):
        for depth in range(len(case.at), 1, -1):
            if isinstance(value_at(case.spec, case.at[:depth]), dict):
                yield laid(case.spec, case.at[:depth], wanted)
    elif type(wanted[0]) is type(value) and not isinstance(value, dict | list):
        spec = copy.deepcopy(case.spec)
        value_at(spec, case.at[:-1])[case.at[-1]] = wanted[0]
        yield spec


def laid(spec: Spec, path: Path, wanted: list[dict[str, Any]]) -> Spec:
    """A spec with keys below a mapping; dots in a key lead below it."""
    spec = copy.deepcopy(spec)
    target = value_at(spec, path)
    for keys in wanted:
        for name, value in keys.items():
            *above, last = name.split(".")
            inner = target
            for key in above:
                inner = inner.setdefault(key, {})
            old = inner.get(last)
            both = isinstance(old, dict) and isinstance(value, dict)
            inner[last] = merged(old, value) if both else value
    return spec


def kept(spec: Spec) -> Mapping[str, Any]:
    """What an advice has no say in, by job: its model and its data."""
    return {
        str(job.get("name")): (job.get("model", {}).get("parameters"), job.get("mounts"))
        for job in spec["spec"].get("jobs", ())
    }


def test_what_a_help_says_to_write_is_right() -> None:
    applied, wrong = 0, {}
    rules = drawn(builtin_rules(), 70)
    for case in cases(rules):
        for spec in edited(case):
            try:
                after = judged(spec, case.rule, case.example)
            except UnusableExampleError:
                continue  # another place is meant, or more than one key
            applied += 1
            again = [
                each for each in after if (each.code, each.at) == (case.rule.code, case.finding.at)
            ]
            new = {each.code for each in after} - case.before
            if again or new:
                wrong[case.rule.code] = (case.finding.help, new)
            assert kept(spec) == kept(case.spec), case.finding.help
            break
    assert applied >= at_least(80)
    assert wrong.keys() == reasons_of(NOT_ALONE, {rule.code for rule in rules}).keys(), wrong
