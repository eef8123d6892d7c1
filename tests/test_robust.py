"""Whatever stands in the files beside the specs: rules, settings, exceptions, catalogs.

Nothing raises, and each fault has its code, its words and a help.
"""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from builders import document, dumped, spec
from drawn import examples_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_properties import JUNK, mutated, places
from trainyard.catalog import load_catalog
from trainyard.catalog.catalog import DATA
from trainyard.catalog.overlay import SCHEMA
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.judge import load_policies
from trainyard.judge.policy.load import load_rules
from trainyard.run.language.load import load
from trainyard.run.resolve import resolve

from tests.policy.harness import lifted

pytestmark = pytest.mark.slow

LAW = settings(
    max_examples=examples_of(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
TODAY = date(2026, 11, 22)
RULE = {
    "code": "ORG001",
    "slug": "no-owner",
    "severity": "warning",
    "help": "add one",
    "description": "why",
    "match": {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"},
    "message": "no owner",
    "schema": {
        "properties": {
            "metadata": {"required": ["labels"], "properties": {"name": {"pattern": "^a"}}}
        }
    },
}
SETTINGS = {"levels": {"EFA001": "warning", "EFA": "off"}, "params": {"QUE012": {"minutes": 20}}}
EXCEPTIONS = [
    {"code": "EFA001", "object": "TrainJob/a/*", "reason": "test bed", "until": "2027-01-31"},
    {"code": "PLC003", "place": "spec.jobs[0]", "reason": "test bed", "until": "2026-01-31"},
]
TEXTS = st.text(max_size=40) | st.sampled_from(
    [
        "\ufeff",
        "\x00",
        "{",
        "[" * 3000,
        "a: &a [*a]",
        "? {}\n: 1",
        "!!python/object:os.x {}",
        "%YAML 3\n---\n",
        "\ud7ff: \U0001f600",
        "9" * 5000,
        "- " * 3000,
        "\t- a",
        "a: " + "9" * 5000,
        "---\n" * 3000,
    ]
)


def _sound(found: list[Any]) -> None:
    assert [
        each for each in found if not each.help or not each.message or each.code.startswith("INT")
    ] == []


def _changed(data: st.DataObject, body: Any) -> Any:
    for _ in range(data.draw(st.integers(1, 3))):
        if spots := places(body):
            spot = spots[data.draw(st.integers(0, len(spots) - 1))]
            body = mutated(body, spot, data.draw(JUNK), delete=data.draw(st.booleans()))
    return body


def _written(data: st.DataObject, body: Any) -> str:
    return data.draw(st.just(dumped(_changed(data, body))) | TEXTS)


@LAW
@given(st.data())
def test_rules_in_yaml(tmp_path: Path, data: st.DataObject) -> None:
    (tmp_path / "rule.yaml").write_text(
        _written(data, RULE), encoding="utf-8", errors="surrogatepass"
    )
    rules, found = load_rules(tmp_path)
    _sound(found)
    plan, manifests = lifted("jobs: [{name: llama}]")
    own = [each for each in rules if each.file.startswith(str(tmp_path))]
    for each in run(plan, load_catalog(), own, manifests=manifests):
        assert each.message
        assert not each.code.startswith("INT")


@LAW
@given(st.data())
def test_settings_and_exceptions(tmp_path: Path, data: st.DataObject) -> None:
    (tmp_path / "policy.yaml").write_text(
        _written(data, SETTINGS), encoding="utf-8", errors="surrogatepass"
    )
    (tmp_path / "exceptions.yaml").write_text(
        _written(data, EXCEPTIONS), encoding="utf-8", errors="surrogatepass"
    )
    policies, found = load_policies(tmp_path, today=TODAY)
    _sound(found)
    _sound(policies.config.excuse([])[0])


@cache
def _overlay() -> dict[str, Any]:
    """One type of the catalog, in one region."""
    facts = json.loads((DATA / "instances.json").read_bytes())
    row = {**facts["instances"]["p4d.24xlarge"], "zones": "us-west-2:ab"}
    return {
        "schema": SCHEMA,
        "sources": [["mine", "EC2", "live", "2026-11-21"]],
        "account": "111122223333",
        "regions": {"us-west-2": "ab"},
        "zone_ids": {"us-west-2": {"a": "usw2-az1", "b": "usw2-az2"}},
        "instances": {"p4d.24xlarge": row, "m7i.2xlarge": {**facts["instances"]["m7i.2xlarge"]}},
    }


@LAW
@given(st.data())
def test_catalogs(tmp_path: Path, data: st.DataObject) -> None:
    """What is taken is resolved without a crash; what is not is reported."""
    load_catalog.cache_clear()
    text = json.dumps(_changed(data, _overlay()))
    (tmp_path / "catalog.json").write_text(text, encoding="utf-8")
    catalog = load_catalog(tmp_path / "catalog.json")
    _sound(list(catalog.faults))
    model, _ = load(document(spec()))
    assert model is not None
    _, found = resolve(model, catalog)
    _sound(found)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", '"a"', "1", "NaN", "{", "\x00", f'{{"schema": "{SCHEMA}"}}']
)
def test_a_catalog_that_is_none(text: str, tmp_path: Path) -> None:
    load_catalog.cache_clear()
    (tmp_path / "catalog.json").write_text(text)
    (fault, *_) = load_catalog(tmp_path / "catalog.json").faults
    assert fault.code == "CAT002"


@pytest.mark.parametrize(
    "changed",
    [
        {"zones": "us-west-2"},
        {"zones": "a b:c"},
        {"zones": "us-west-2:A"},
        {"neuron_lnc": 0},
        {"neuron": -1},
    ],
)
def test_a_type_whose_facts_cannot_be(changed: dict[str, Any], tmp_path: Path) -> None:
    load_catalog.cache_clear()
    facts = _overlay()
    row = {**facts["instances"]["p4d.24xlarge"], **changed}
    (tmp_path / "catalog.json").write_text(
        json.dumps({**facts, "instances": {"p4d.24xlarge": row}})
    )
    (fault,) = load_catalog(tmp_path / "catalog.json").faults
    (key,) = changed
    assert f"`{key}` cannot be" in fault.message
