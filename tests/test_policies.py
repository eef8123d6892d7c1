"""Every built-in rule finds what its page shows, alone, and finds nothing in what its page accepts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from running import SPECS
from trainyard.catalog import load_catalog
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.load import BUILTIN_AREAS, OWN_FOLDER, builtin_folder
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Severity
from trainyard.language.source.assemble import assemble
from trainyard.run.language.documents import lists

from tests.policy.harness import (
    SET,
    TODAY,
    WHOLE,
    assert_hides_secrets,
    builtin_rules,
    config_for,
    findings_for,
    from_document,
    lifted,
)
from tests.policy.helps import assert_speaks_of_the_spec, is_of_spec

RULES = builtin_rules()
FAILS = [(each, index) for each in RULES for index in range(len(each.fails))]
PASSES = [(each, index) for each in RULES for index in range(len(each.passes))]

ELSEWHERE = {"@Template/template.yaml", "@Dockerfile/Dockerfile", "spec"}
OF_AWS = ("@Template/bootstrap/", "@JobScript/", "@ClusterConfiguration/", "@ClusterRequest/")
"""Where findings are that are in no manifest."""


LEFT_OUT = {"EFA001", "HLT013", "LIM003", "LIM005", "LIM006", "LIM008", "QUE015", "RUN019"}
"""What is found, too, in an example with a job of a kind that the base has not: it shows what it is about, and leaves
out the rest of a job."""
BESIDE = {"HLT029": {"HLT024"}}
"""A cluster that is older than a field of today leaves support, too: both say to upgrade it, to one version."""
OF_BASE = {body["kind"] for body in SET}


def left_out(text: str) -> set[str]:
    """What may be found beside in an example."""
    kinds = re.findall(r"(?m)^kind: (\w+)", text)
    return LEFT_OUT if set(kinds) - OF_BASE else set()


def _id(value: object) -> str:
    return value.code if isinstance(value, Rule) else str(value)


@pytest.mark.needs("hyperpod", "parallelcluster", "forecast")
@pytest.mark.parametrize(("rule", "index"), FAILS, ids=_id)
def test_fails(rule: Rule, index: int) -> None:
    """All of its example is found, with a help, at a place of an object of the example or of its spec, in whose words
    the help is."""
    text = rule.fails[index]
    plan, manifests = lifted(text)
    found = run(plan, load_catalog(), RULES, config_for(rule, text, TODAY), manifests)
    known = {each.id for each in manifests} | ELSEWHERE
    codes = {each.code for each in found}
    beside = left_out(text) | BESIDE.get(rule.code, set())
    assert codes - (beside - {rule.code}) == {rule.code}, [
        (each.code, each.message) for each in found
    ]
    assert_hides_secrets(found)
    for each in found:
        assert each.help, each.message
        if is_of_spec(text):
            assert_speaks_of_the_spec(each.help)
        assert each.at, each.message
        is_of_aws = str(each.at[0]).startswith(OF_AWS)
        assert each.at[0] in known or is_of_aws, (rule.code, each.at)
        assert each.message[0] != each.message[0].upper() or each.message[0] in "`/N0123456789KL", (
            each.message
        )
        assert not each.message.endswith("."), each.message


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "index"), PASSES, ids=_id)
def test_passes(rule: Rule, index: int) -> None:
    text = rule.passes[index]
    found = findings_for(text, rules=(rule,), config=config_for(rule, text, TODAY))
    assert rule.code not in {each.code for each in found}, [each.message for each in found]


@pytest.mark.parametrize("text", ["", WHOLE], ids=["third-party manifests", "our own output"])
def test_without_fault(text: str) -> None:
    assert findings_for(text) == []


@pytest.mark.needs("hyperpod", "parallelcluster", "forecast")
@pytest.mark.parametrize("path", sorted(SPECS.iterdir()), ids=lambda path: path.stem)
def test_specs_are_clean(path: Path) -> None:
    sources, faults = assemble([path], lists())
    assert not faults, faults
    for source in sources:
        plan, manifests = from_document(source.document)
        found = run(plan, load_catalog(), RULES, manifests=manifests)
        assert [(each.code, each.message) for each in found] == []


def test_unknown_is_silent() -> None:
    """Each object of the set by itself: what it refers to is elsewhere, and that is no fault."""
    for body in SET:
        text = "\n---\n".join(
            f"{{apiVersion: {each['apiVersion']}, kind: {each['kind']}, $patch: delete}}"
            for each in SET
            if each is not body
        )
        found = [each for each in findings_for(text) if each.severity > Severity.NOTE]
        assert found == [], (body["kind"], [(each.code, each.message) for each in found])


def test_pairs_are_silent() -> None:
    """Every set of the base less one object."""
    for body in SET:
        found = findings_for(
            f"{{apiVersion: {body['apiVersion']}, kind: {body['kind']}, $patch: delete}}"
        )
        assert found == [], (body["kind"], [(each.code, each.message) for each in found])


@pytest.mark.needs("hyperpod", "parallelcluster", "forecast")
def test_codes_and_files() -> None:
    files = {path for path in builtin_folder().glob("*/*.py") if path.parent.name != OWN_FOLDER}
    assert {Path(each.file) for each in RULES} == {path.resolve() for path in files}
    for each in RULES:
        assert Path(each.file).stem == each.slug.replace("-", "_")
        assert re.fullmatch(r"[A-Z]{3}[0-9]{3}", each.code)
        assert each.fails, each.code
        assert each.passes, each.code
        assert each.area in BUILTIN_AREAS
    assert len({each.slug for each in RULES}) == len(RULES)
    names = [name for each in RULES for name in (each.slug, *each.aliases)]
    assert len(set(names)) == len(names), "a former slug means two rules"


def test_examples_set_every_parameter() -> None:
    """What a parameter does is shown, and so tested, on both sides."""
    for rule in RULES:
        for texts in (rule.fails, rule.passes):
            shown = [config_for(rule, text, TODAY).params[rule.code] for text in texts]
            for name, default in rule.params.items():
                assert any(each[name] != default for each in shown), (rule.code, name)


def test_off_by_default() -> None:
    """A built-in rule that is off finds nothing in its own example, until a level is set."""
    rules = [rule for rule in RULES if not rule.enabled]
    assert rules
    for rule in rules:
        assert findings_for(rule.fails[0]) == []
        config = replace(TODAY, levels={rule.code: Severity.ERROR})
        found = findings_for(rule.fails[0], config=config)
        assert {(each.code, each.severity) for each in found} == {(rule.code, Severity.ERROR)}
