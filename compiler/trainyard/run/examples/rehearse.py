"""Runs a rule on one example of its page, and returns what it finds.

An example is a part of a spec (the keys under ``spec:``), or manifests, as YAML. A part is laid over a spec, manifests
over a set of objects, that are without fault (``data/``). Comments at the top of an example say how it is judged:

- ``# a whole cluster``: the manifests change what the base spec compiles to. Without it they are a third party's, an
  open set.
- ``# params: {minutes: 30}``: the rule has these parameters, as ``params:`` of ``policy.yaml`` sets them.

A template of CloudFormation stands by itself, and so does a Dockerfile. So do batch scripts of Slurm and configurations
of ParallelCluster, which may stand in one example, divided by ``---``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from trainyard.catalog import load_catalog
from trainyard.eks.overrides.plan import ObjectPatch
from trainyard.judge.policy.config import Config
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.params import refusal_of
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.places import Document, SourceFile
from trainyard.language.source.libyaml import DUMPER, LOADER, yaml
from trainyard.language.source.manifests import parse_manifests
from trainyard.language.source.parse import parse
from trainyard.lift import lift
from trainyard.output import Artifact
from trainyard.output.manifest import Body, Manifest, ref_of
from trainyard.plan import Plan
from trainyard.run.language.load import load, platform_of
from trainyard.run.lower import lower
from trainyard.run.passes import once_a_key, traced
from trainyard.run.patching import apply_patches
from trainyard.run.resolve import resolve
from trainyard.verify.formats import lifted as lifted_plan
from trainyard.verify.formats import objects, recognised, reread
from trainyard.verify.formats.cloudformation.functions import TAGS
from trainyard.verify.formats.cloudformation.template import is_template

# Merges an example over a base: mappings by key, lists by `name`, `key`, `pool` or position.
#
# `null` removes a key. `$patch: delete` removes an object, `$patch: replace` stands for a whole mapping.

_KEYS = ("name", "key", "pool")
_STARTED = ("NodePool", "ClusterTrainingRuntime")
"""Kinds whose new objects start as a copy of the base's, since an example names only what it is about."""


def overlaid(base: Sequence[Body], changes: Sequence[Body]) -> list[Body]:
    """A set of objects with others laid over it, each over the object of its kind and (if given) name."""
    objects = list(base)
    for change in changes:
        index = _index(objects, change)
        if index is None:
            start = _start(base, change)
            objects.append(merged(start, change))
        elif change.get("$patch") == "delete":
            del objects[index]
        else:
            objects[index] = merged(objects[index], change)
    return objects


def _index(objects: Sequence[Body], change: Body) -> int | None:
    name = change.get("metadata", {}).get("name")
    for index, body in enumerate(objects):
        if body["kind"] != change["kind"]:
            continue
        if name in (None, ref_of(body).name):
            return index
    return None


def _start(base: Sequence[Body], change: Body) -> Body:
    if change["kind"] not in _STARTED:
        return {}
    for body in base:
        if body["kind"] != change["kind"]:
            continue
        if ref_of(body).group == ref_of(change).group:
            return body
    return {}


def merged(base: Any, change: Any) -> Any:
    """``change`` laid over ``base``."""
    if isinstance(base, Mapping) and isinstance(change, Mapping):
        return _mapping(base, change)
    if _of_mappings(base) and _of_mappings(change):
        return _list(base, change)
    return _clean(change)


def _mapping(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    if change.get("$patch") == "replace":
        replacement = dict(change)
        del replacement["$patch"]
        return replacement
    laid = dict(base)
    for key, value in change.items():
        if value is None:
            laid.pop(key, None)
        elif key in base:
            laid[key] = merged(base[key], value)
        else:
            laid[key] = _clean(value)
    return laid


def _of_mappings(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(item, Mapping) for item in value)


def _list(base: list[Any], change: list[Any]) -> list[Any]:
    laid = list(base)
    for position, item in enumerate(change):
        index = _position(laid, item, position)
        if index is None:
            laid.append(_clean(item))
        else:
            laid[index] = merged(laid[index], item)
    return laid


def _position(items: list[Any], change: Mapping[str, Any], position: int) -> int | None:
    """The item that a change is about: of the same name, or at the same place where it has none."""
    key = next((key for key in _KEYS if key in change), None)
    if key is None:
        if position < len(items):
            return position
        return None
    for index, item in enumerate(items):
        if item.get(key) == change[key]:
            return index
    return None


def _clean(value: Any) -> Any:
    """A value without what only speaks of the base."""
    if isinstance(value, Mapping):
        return {
            key: _clean(item) for key, item in value.items() if item is not None and key != "$patch"
        }
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


WHOLE = "# a whole cluster"
_PARAMS = "# params:"
TEMPLATE = "template.yaml"
_TEMPLATE = re.compile(
    r"^(?:AWSTemplateFormatVersion|Resources)\s*:|\A\s*\{\s*\"(?:AWS|Resources)", re.MULTILINE
)
_DOCKERFILE = re.compile(r"^FROM \S+", re.MULTILINE)
_OF_OBJECTS = ("", "kubernetes", "eksctl")
"""Formats of objects, and keys of a spec, which have none."""
SLURM = re.compile(r"^(?:#!|Scheduling:|HeadNode:)", re.MULTILINE)
_DATA = Path(__file__).with_name("data")


class UnusableExampleError(Exception):
    """An example that cannot be judged: no YAML, or with its base no spec. ``str`` says why."""


@cache
def base_spec() -> dict[str, Any]:
    """The spec that a part is laid over."""
    text = (_DATA / "spec.yaml").read_text(encoding="utf-8")
    spec: dict[str, Any] = yaml.load(text, Loader=LOADER)
    return spec


@cache
def base_set() -> tuple[Body, ...]:
    """The objects that manifests are laid over."""
    text = (_DATA / "set.yaml").read_text(encoding="utf-8")
    return tuple(yaml.load_all(text, Loader=LOADER))


def findings(text: str, rules: Sequence[Rule], config: Config) -> list[Diagnostic]:
    """What rules find in an example, at what is written. Raises ``UnusableExampleError``."""
    found, _ = _judged(text, rules, config)
    return found


def findings_at_keys(text: str, rules: Sequence[Rule], config: Config) -> list[Diagnostic]:
    """The same at the keys of the spec, where the example is a part of one. Raises ``UnusableExampleError``."""
    found, artifacts = _judged(text, rules, config)
    at_keys = zip(found, traced(found, artifacts), strict=True)
    return once_a_key([placed if placed.at else finding for finding, placed in at_keys])


def _judged(
    text: str, rules: Sequence[Rule], config: Config
) -> tuple[list[Diagnostic], Sequence[Artifact]]:
    plan, artifacts = lifted(text)
    found = run(plan, load_catalog(), tuple(rules), config, objects(artifacts))
    return found, artifacts


def config_for(rule: Rule, text: str, config: Config) -> Config:
    """The settings under which an example of a rule is judged: the rule is on, with the parameters of the example.

    Raises ``UnusableExampleError`` for parameters that the rule does not have, or not with such a value.
    """
    given = config.params.get(rule.code, rule.params)
    params = dict(given)
    for line in _header(text):
        if line.startswith(_PARAMS):
            own = line.removeprefix(_PARAMS)
            params |= _params(rule, own)
    level = config.levels.get(rule.code) or rule.severity
    return replace(
        config,
        levels={**config.levels, rule.code: level},
        params={**config.params, rule.code: params},
    )


def _header(text: str) -> list[str]:
    """The comments at the top of an example."""
    lines = [line.strip() for line in text.splitlines()]
    return list(takewhile(lambda line: line.startswith("#"), lines))


def _params(rule: Rule, text: str) -> dict[str, Any]:
    try:
        params = yaml.load(text, Loader=LOADER)
    except yaml.YAMLError:
        params = None
    if not isinstance(params, dict):
        raise UnusableExampleError(f"`{_PARAMS}{text}` is not `{_PARAMS} {{name: 1}}`")
    for name, value in params.items():
        refusal = refusal_of(rule, name, value)
        if refusal is not None:
            raise UnusableExampleError(refusal.message)
    return params


def lifted(text: str) -> tuple[Plan, Sequence[Artifact]]:
    """The plan that policies judge of an example, and the artifacts that it was lifted from.

    Raises ``UnusableExampleError``.
    """
    if _TEMPLATE.search(text):
        return from_template(text), []
    if _DOCKERFILE.search(text):
        file = Artifact(path="Dockerfile", format="dockerfile", text=text)
        return lifted_plan([file], closed=False), []
    if SLURM.search(text):
        return from_slurm(text), []
    try:
        documents = list(filter(None, yaml.load_all(text, Loader=LOADER)))
    except yaml.YAMLError as fault:
        problem = " ".join(str(fault).split())
        raise UnusableExampleError(f"it is no YAML: {problem}") from None
    if not all(isinstance(document, dict) for document in documents):
        raise UnusableExampleError("it is neither keys of a spec nor manifests")
    if documents and recognised(documents[0]) not in _OF_OBJECTS:
        return from_files(documents)
    if documents and "kind" not in documents[0]:
        part = {"spec": documents[0]}
        spec = merged(base_spec(), part)
        return from_spec(yaml.dump(spec, Dumper=DUMPER))
    if WHOLE in _header(text):
        spec_text = yaml.dump(base_spec(), Dumper=DUMPER)
        plan, artifacts = from_spec(spec_text)
        bodies = [manifest.body for manifest in objects(artifacts)]
        changed = [Manifest(body) for body in overlaid(bodies, documents)]
        return reread(changed, plan), changed
    manifests = [Manifest(body) for body in overlaid(base_set(), documents)]
    return lift(manifests, closed=False), manifests


def from_template(text: str) -> Plan:
    """The plan of a template of CloudFormation, in YAML or JSON. Raises ``UnusableExampleError``."""
    file = SourceFile("template.yaml", text)
    documents, faults = parse_manifests(file, TAGS)
    _refuse(faults)
    body: Any = documents[0].root.to_python() if documents else None
    if not is_template(body):
        raise UnusableExampleError("it is no template: no resource has a `Type`")
    artifact = Artifact(body, TEMPLATE, format="cloudformation")
    return lifted_plan([artifact], closed=False)


def from_slurm(text: str) -> Plan:
    """The plan of batch scripts and configurations of ParallelCluster. Raises ``UnusableExampleError``."""
    artifacts = []
    for number, part in enumerate(re.split(r"^---\n", text, flags=re.MULTILINE)):
        if part.startswith("#!"):
            artifacts.append(Artifact(path=f"{number}.sbatch", format="sbatch", text=part))
            continue
        body = _body(SourceFile(f"{number}.yaml", part))
        artifacts.append(Artifact(body, f"{number}.yaml", format="parallelcluster"))
    return lifted_plan(artifacts, closed=False)


def from_files(documents: Sequence[dict[str, Any]]) -> tuple[Plan, Sequence[Artifact]]:
    """The plan of what only some platform has, like requests of HyperPod, and of the manifests next to it."""
    manifests = [Manifest(document) for document in documents if "kind" in document]
    files = [
        Artifact(document, f"{number}.json", format=recognised(document))
        for number, document in enumerate(documents)
        if "kind" not in document
    ]
    return lifted_plan([*files, *manifests], closed=False), manifests


def _body(file: SourceFile) -> Any:
    """The only document of a text. Raises ``UnusableExampleError``."""
    documents, faults = parse_manifests(file, {})
    _refuse(faults)
    return documents[0].root.to_python() if documents else None


def from_spec(text: str) -> tuple[Plan, Sequence[Artifact]]:
    """A spec through ``resolve``, ``lower`` and ``lift``. Raises ``UnusableExampleError``."""
    documents, faults = parse(SourceFile("spec.yaml", text))
    _refuse(faults)
    return from_document(documents[0])


def from_document(document: Document) -> tuple[Plan, Sequence[Artifact]]:
    """A parsed spec through ``resolve``, ``lower`` and ``lift``. Raises ``UnusableExampleError``."""
    platform = platform_of(document)
    spec, faults = load(document, platform)
    if spec is None:
        _refuse(faults)
    assert spec is not None
    plan, faults = resolve(spec, load_catalog(), platform=platform)
    if plan is None:
        _refuse(faults)
    assert plan is not None
    artifacts = lower(plan)
    if plan.of(ObjectPatch):
        plan, artifacts, faults = apply_patches(plan, artifacts)
        _refuse(faults)
    return reread(artifacts, plan), artifacts


def _refuse(faults: Sequence[Diagnostic]) -> None:
    errors = [fault for fault in faults if fault.severity is Severity.ERROR]
    if errors:
        first = errors[0]
        problem = f"{first.code} {first.message} at `{first.at}`"
        raise UnusableExampleError(f"with the base it is no spec: {problem}")
