"""138 objects with the verdict of a real API server (1.36.3) and of three CEL engines: the same layers reject each."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.verify import BUILTIN, Schemas
from trainyard.verify.body import validate_body
from trainyard.verify.definition_rules import rule_faults, update_faults
from trainyard.verify.schemas import Schema
from trainyard.verify.walk import walk

pytestmark = pytest.mark.slow


def layers(schema: Schema, case: dict[str, Any]) -> set[str]:
    faults = [*walk(schema.root, case["obj"]), *rule_faults(schema.root, case["obj"])]
    if case["old"]:
        faults += update_faults(schema.root, case["obj"], case["old"])
    return {fault.layer for fault in faults}


@pytest.mark.parametrize("origin", ["upstream", "committed"])
def test_each_case_is_rejected_by_the_listed_layers(
    origin: str, cases: list[dict[str, Any]], full: Schemas
) -> None:
    schemas = full if origin == "upstream" else BUILTIN
    wrong = {}
    for case in cases:
        schema = schemas.find(case["obj"]["apiVersion"], case["obj"]["kind"])[0]
        if (got := layers(schema, case)) != set(case["rejected_by"]):
            wrong[case["id"]] = (got, case["rejected_by"])
    assert wrong == {}
    assert len(cases) == 138


def test_without_cel_the_other_layers_stay_the_same(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        schema = BUILTIN.find(case["obj"]["apiVersion"], case["obj"]["kind"])[0]
        assert {fault.layer for fault in walk(schema.root, case["obj"])} == set(
            case["rejected_by"]
        ) - {"cel"}, case["id"]


# What the API server takes, and Kueue, Trainer or Flux then refuse or never act on.
BEYOND = {
    "cq/order-mismatch",
    "cq/nominal-neg",
    "ctr/ok",
    "ctr/both-pgp",
    "ks/hre-nokind",
    "ec2/cr-id+tags-but-other-ok",
}
# Fields of Trainer 2.1, since a third-party Trainer may be that.
LEFT = {"tj/auto", "tj/labels", "tj/podoverrides"}


def test_the_same_objects_are_refused_in_words(cases: list[dict[str, Any]]) -> None:
    wrong = set()
    for case in cases:
        if case["old"] is None:
            faults = validate_body(case["obj"], closed=False)
            if bool(faults) != bool(case["rejected_by"]):
                wrong.add(case["id"])
            assert all(fault.help for fault in faults), case["id"]
    assert wrong == BEYOND | LEFT
