"""From an example of a rule's page to findings.

An example is a part of a spec (the keys under ``spec:``), or manifests. A part is merged into a spec, or a set of
manifests, that is without fault: mappings by key, lists by ``name``, ``key`` or position; ``null`` removes.
``$patch: delete`` removes an object, ``$patch: replace`` an item of a list. Manifests are a stranger's (an open set)
unless their first line says ``# a whole cluster``: then they change what our own targets make.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from compiler.catalog import load_catalog
from compiler.diagnostics import Diagnostic
from compiler.lift import lift
from compiler.manifest import Manifest, ref_of
from compiler.plan import Plan
from compiler.policy.config import Config
from compiler.policy.engine import run
from compiler.policy.load import load_rules
from compiler.policy.rule import Rule
from compiler.resolve import resolve
from compiler.source import Document, SourceFile
from compiler.source.parse import parse
from compiler.spec import load
from compiler.targets import lower

HERE = Path(__file__).parent
TODAY = Config(today=date(2026, 11, 21))
WHOLE = "# a whole cluster"
SPEC: dict[str, Any] = yaml.safe_load((HERE / "base-spec.yaml").read_text())
SET: list[dict[str, Any]] = list(yaml.safe_load_all((HERE / "base-set.yaml").read_text()))


@cache
def builtin_rules() -> tuple[Rule, ...]:
    """The built-in rules, all of which must load."""
    rules, faults = load_rules(None)
    assert not faults, faults
    return rules


def findings_for(text: str, *, rules: tuple[Rule, ...] | None = None, config: Config = TODAY) -> list[Diagnostic]:
    """What the rules find in the example, merged into the base it is a part of."""
    plan, manifests = lifted(text)
    return run(plan, load_catalog(), rules or builtin_rules(), config, manifests)


def lifted(text: str) -> tuple[Plan, list[Manifest]]:
    """The plan that policies judge, and the manifests that it was lifted from."""
    documents = [each for each in yaml.safe_load_all(text) if each]
    if documents and "kind" not in documents[0]:
        return from_spec(yaml.safe_dump(merged(SPEC, {"spec": documents[0]})))
    if text.startswith(WHOLE):
        plan, manifests = from_spec(yaml.safe_dump(SPEC))
        bodies = overlaid([each.body for each in manifests], documents)
        return again(plan, [Manifest(each) for each in bodies], closed=True)
    return again(None, [Manifest(each) for each in overlaid(SET, documents)], closed=False)


def from_spec(text: str) -> tuple[Plan, list[Manifest]]:
    """A spec through resolve, lower and lift."""
    documents, faults = parse(SourceFile("spec.yaml", text))
    assert not faults, faults
    return from_document(documents[0])


def from_document(document: Document) -> tuple[Plan, list[Manifest]]:
    """A spec that was parsed, through resolve, lower and lift."""
    spec, faults = load(document)
    assert spec is not None, faults
    plan, faults = resolve(spec, load_catalog())
    assert plan is not None, faults
    return again(plan, lower(plan), closed=True)


def again(plan: Plan | None, manifests: list[Manifest], *, closed: bool) -> tuple[Plan, list[Manifest]]:
    """Manifests lifted, with what no manifest carries."""
    found = lift(manifests, closed=closed)
    if plan is not None:
        found = replace(found, external=plan.external, versions=plan.versions, release=plan.release,
                        bootstrap=plan.bootstrap)
    return found, manifests


def overlaid(base: list[dict[str, Any]], changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A set of manifests with others merged in, each into the object of its kind and (if given) name."""
    found = list(base)
    for change in changes:
        name = change.get("metadata", {}).get("name")
        index = next((i for i, each in enumerate(found) if each["kind"] == change["kind"]
                      and (name is None or ref_of(each).name == name)), None)
        if index is None:
            new = next((each for each in base if each["kind"] == change["kind"] and _group(each) == _group(change)), {})
            started = new if change["kind"] in ("NodePool", "ClusterTrainingRuntime") else {}
            found.append(merged(started, change))
        elif change.get("$patch") == "delete":
            del found[index]
        else:
            found[index] = merged(found[index], change)
    return found


def _group(body: dict[str, Any]) -> str:
    return str(body["apiVersion"]).rpartition("/")[0]


def merged(base: Any, change: Any) -> Any:
    """``change`` laid over ``base``."""
    if isinstance(base, dict) and isinstance(change, dict):
        if change.get("$patch") == "replace":
            return {key: value for key, value in change.items() if key != "$patch"}
        found = {key: merged(value, change[key]) if key in change else value for key, value in base.items()
                 if change.get(key, value) is not None or key not in change}
        found.update({key: _clean(value) for key, value in change.items() if key not in base and value is not None})
        return found
    if isinstance(base, list) and isinstance(change, list) and all(isinstance(e, dict) for e in (*base, *change)):
        return _lists(base, change)
    return _clean(change)


def _lists(base: list[Any], change: list[Any]) -> list[Any]:
    found = list(base)
    for position, item in enumerate(change):
        by = next((key for key in ("name", "key", "pool") if key in item), None)
        index = next((i for i, each in enumerate(found) if by and each.get(by) == item[by]), None)
        index = position if index is None and by is None and position < len(found) else index
        if index is None:
            found.append(_clean(item))
        else:
            found[index] = merged(found[index], item)
    return found


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(each) for key, each in value.items() if each is not None and key != "$patch"}
    return [_clean(each) for each in value] if isinstance(value, list) else value
