"""The structural walk against the ``jsonschema`` package: the same verdict on the cases and on mutated objects."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest
from drawn import examples_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from trainyard.language.re2 import compile_re2
from trainyard.output.body import walk_values
from trainyard.verify import BUILTIN
from trainyard.verify.defaults import defaulted
from trainyard.verify.schemas import DATA, file_name
from trainyard.verify.structure import children
from trainyard.verify.syntax import SYNTAXES
from trainyard.verify.walk import walk

from verify.conftest import (
    CLUSTER_QUEUE,
    DEPLOYMENT,
    HELM_RELEASE,
    JOB,
    KUSTOMIZATION,
    NODE_POOL,
    POD,
    RUNTIME,
    TRAIN_JOB,
)

BODIES = [
    CLUSTER_QUEUE,
    DEPLOYMENT,
    HELM_RELEASE,
    JOB,
    KUSTOMIZATION,
    NODE_POOL,
    POD,
    RUNTIME,
    TRAIN_JOB,
]
COMPARED = {"SCH002", "SCH003", "SCH004", "SCH005", "SCH006", "NAM001", "NAM003"}
UNTRANSLATED = re.compile(
    r"(label-key|annotation-key|toleration-key|cidr)( |$)"
)  # checked by code, not by a pattern
INT = {"int32": 2**31, "int64": 2**63}


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    """The keyword, by the regular expressions of the API server."""
    if isinstance(value, str) and not compile_re2(pattern).search(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


Oracle = extend(Draft202012Validator, {"pattern": _pattern})


@lru_cache
def oracle(api_version: str, kind: str) -> Any:
    """A validator of another make for a committed schema, its keywords put in JSON Schema's words."""
    group, _, version = api_version.rpartition("/")
    raw = json.loads((DATA / file_name(group, version, kind)).read_text())
    defs = {str(place): translated(schema) for place, schema in enumerate(raw["defs"])}
    return Oracle({**translated(raw["schema"]), "$defs": defs})


def translated(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"$ref": f"#/$defs/{schema['$ref']}"}
    out = {
        key: value
        for key, value in schema.items()
        if key not in ("rules", "list", "keys", "any", "default")
    }
    for name, holder in (("syntax", out), ("keySyntax", out.setdefault("propertyNames", {}))):
        syntax = schema.get(name, "")
        known = SYNTAXES.get(syntax.removesuffix("?"))
        if known is not None and known.pattern:
            or_empty = "?" if syntax.endswith("?") else ""
            holder["pattern"] = rf"\A(?:{known.pattern}){or_empty}\z"
            holder["maxLength"] = known.longest
    if limit := INT.get(schema.get("format", "")):
        out["minimum"], out["maximum"] = (
            max(-limit, out.get("minimum", -limit)),
            min(limit - 1, out.get("maximum", limit)),
        )
    for key in ("items", "additionalProperties"):
        if key in out:
            out[key] = translated(out[key])
    if "properties" in out:
        out["properties"] = {name: translated(child) for name, child in out["properties"].items()}
    return out


def agrees(body: dict[str, Any]) -> None:
    root = BUILTIN.find(body["apiVersion"], body["kind"])[0].root
    ours = [
        fault
        for fault in walk(root, body)
        if fault.code in COMPARED and not UNTRANSLATED.search(fault.message)
    ]
    theirs = list(oracle(body["apiVersion"], body["kind"]).iter_errors(defaulted(root, body)))
    assert bool(ours) == bool(theirs), (
        [fault.message for fault in ours],
        [error.message for error in theirs],
    )


def test_same_verdict_on_the_cases(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        agrees(case["obj"])


def test_same_verdict_on_sound_objects() -> None:
    for body in BODIES:
        agrees(body)
        assert walk(BUILTIN.find(body["apiVersion"], body["kind"])[0].root, body) == []


JUNK = st.sampled_from(
    [
        "",
        "x",
        "10m",
        "Always",
        "a b",
        0,
        -1,
        1.5,
        2.0,
        True,
        None,
        2**31,
        2**63,
        [],
        {},
        [None],
        [""],
        {"a": None},
        "5Gi",
        "x" * 300,
    ]
)


def places(value: Any, start: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of every value, below ``start``."""
    return [path for path, _ in walk_values(value, start)]


@pytest.mark.slow
@settings(
    max_examples=examples_of(400), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.data())
def test_same_verdict_on_mutated_objects(data: st.DataObject) -> None:
    body = copy.deepcopy(data.draw(st.sampled_from(BODIES)))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(places(body["spec"], ("spec",))[1:]))
        here: Any = body
        for key in path[:-1]:
            here = here[key]
        if data.draw(st.booleans()) and isinstance(here, dict):
            del here[path[-1]]
        else:
            here[path[-1]] = copy.deepcopy(data.draw(JUNK))
        if len(places(body["spec"])) == 1:
            break
    before = copy.deepcopy(body)
    agrees(body)
    assert body == before  # the walk does not touch what it reads


def test_no_derived_schema_uses_what_the_oracle_does_not_translate() -> None:
    for path in DATA.glob("*.json"):
        raw = json.loads(path.read_text())
        for schema in (raw["schema"], *raw["defs"]):
            assert not {"allOf", "anyOf", "oneOf", "not"} & set(schema), path.name
            assert all(isinstance(child, dict) for child in children(schema))
