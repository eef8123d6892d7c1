"""What many tests start from: a small spec with one pool and one job, and the way from a spec to its plan.

``spec(...)`` gives the spec as data, with parts laid over it: ``spec(pool={"nodes": {"max": 8}}, job={"nodes": 4})``.
A part ``None`` removes the key.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml
from trainyard.catalog import load_catalog
from trainyard.eks.jobs.kind import JobKind
from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.release.versions import name_of_version
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.models.cluster import TrainingCluster
from trainyard.language.places import Document, SourceFile
from trainyard.language.source.assemble import assemble
from trainyard.language.source.parse import parse
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.plan.features import extensions
from trainyard.run.language.documents import lists
from trainyard.run.language.load import load
from trainyard.run.lower import lower
from trainyard.run.resolve import resolve
from trainyard.verify.formats import objects

ROOT = Path(__file__).parents[1]
_MONITORED = ("jakarta", "llama3-8b")
"""Specs with keys of the extension ``observability``."""
SPECS = (
    *(name for name in _MONITORED if "observability" in extensions()),
    *("starter", "t5-large", "two-teams"),
)

RELEASE = load_catalog().newest_release
(PAIR,) = RELEASE.pairs
OLD_TRAINER = f"{PAIR.minor}.0"
"""A supported Trainer before ``runtimePatches``, which needs an older Kueue."""

POOL: dict[str, Any] = {
    "name": "gpu",
    "instanceTypes": ["p4d.24xlarge"],
    "zones": ["us-west-2b"],
    "nodes": {"max": 4},
}
JOB: dict[str, Any] = {
    "name": "train",
    "nodes": 4,
    "image": "registry.test/train:1.0",
    "command": ["torchrun", "t.py"],
}
FSX: dict[str, Any] = {"id": "fs-0a1b2c3d4e5f60718", "mountName": "abcdefgh", "size": "1200Gi"}


def _laid(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in {**copy.deepcopy(base), **over}.items() if value is not None
    }


def spec(
    *,
    pool: dict[str, Any] | None = None,
    job: dict[str, Any] | None = None,
    name: str = "lab",
    **parts: Any,
) -> dict[str, Any]:
    """A whole spec. ``pool`` and ``job`` change the one pool and the one job; other parts are keys of ``spec``."""
    base = {
        "account": "111122223333",
        "region": "us-west-2",
        "nodePools": [_laid(POOL, pool or {})],
        "jobs": [_laid(JOB, job or {})],
    }
    body = {key: value for key, value in {**base, **parts}.items() if value is not None}
    return {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": name},
        "spec": body,
    }


def components(**versions: str) -> dict[str, Any]:
    """What `components:` says for versions alone."""
    return {name: {"version": version} for name, version in versions.items()}


def dumped(data: Any) -> str:
    """Data as YAML, by libyaml: to write a spec in Python takes longer than to read and resolve it."""
    text: str = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    return text


def data_of(text: str) -> Any:
    """What YAML says, by libyaml."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


def document(data: Any) -> Document:
    """The document of a spec, given as data or as YAML text."""
    text = data if isinstance(data, str) else dumped(data)
    found, faults = parse(SourceFile("spec.yaml", text))
    assert faults == [], faults
    return found[0]


def loaded(data: Any) -> TrainingCluster:
    """The spec of data that has the right shape."""
    model, faults = load(document(data))
    assert model is not None, summaries(faults)
    return model


def shape_faults(data: Any) -> list[Diagnostic]:
    """What ``load`` says of a spec."""
    return load(document(data))[1]


def resolved(data: Any) -> tuple[Plan | None, list[Diagnostic]]:
    """Plan and diagnostics of a spec of the right shape."""
    return resolve(loaded(data), load_catalog())


def plan_of(data: Any) -> Plan:
    """The plan of a spec without errors."""
    plan, found = resolved(data)
    assert plan is not None, summaries(found)
    assert not [each for each in found if each.severity is Severity.ERROR]
    return plan


def job_of(data: Any) -> TrainJob:
    """The only job of a spec's plan."""
    (job,) = plan_of(data).of(TrainJob)
    return job


def faults_of(data: Any) -> list[Diagnostic]:
    """What ``resolve`` says of a spec of the right shape."""
    return resolved(data)[1]


def summaries(found: list[Diagnostic]) -> list[tuple[str, str, str]]:
    """Code, route and message of each."""
    return [(each.code, str(each.at), each.message) for each in found]


def example(name: str) -> tuple[Document, Plan]:
    """Document and plan of one of the specs that come with Trainyard."""
    path = ROOT / "tests" / "example" / "specs" / name
    path = path if path.is_dir() else path.with_suffix(".yaml")
    (source,), faults = assemble([path], lists())
    assert faults == []
    model, faults = load(source.document)
    assert model is not None, summaries(faults)
    plan, faults = resolve(model, load_catalog())
    assert plan is not None, summaries(faults)
    return source.document, plan


def listed_versions(plan: Plan) -> dict[str, str]:
    """The versions that `explain cluster` lists, by component."""
    values = {value.field: value.value for value in plan.derived if value.object == "cluster"}
    components = RELEASE.components.values()
    names = {component.name: name_of_version(component) for component in components}
    return {name: values[key] for name, key in names.items() if key in values}


def body_of(manifests: list[Manifest], kind: str, name: str = "") -> dict[str, Any]:
    """The body of the only object of a kind (and name)."""
    found = [
        each.body
        for each in manifests
        if each.body["kind"] == kind and name in ("", each.body["metadata"]["name"])
    ]
    assert len(found) == 1, [each["metadata"]["name"] for each in found]
    return found[0]


def manifests_of(data: Any) -> list[Manifest]:
    """Everything that a spec without errors is lowered to."""
    return objects_of(plan_of(data))


def objects_of(plan: Plan) -> list[Manifest]:
    """The objects among what a plan is lowered to."""
    return objects(lower(plan))


def files(plan: Plan) -> dict[str, Any]:
    """The rest of it: bodies of templates and texts of pages, by path."""
    return {
        each.path: each.body or each.content
        for each in lower(plan)
        if not isinstance(each, Manifest)
    }


_PROGRAMS: dict[str, list[str]] = {
    "torch": ["torchrun", "train.py"],
    "mpi": ["mpirun", "python", "train.py"],
    "ray": ["python", "train.py"],
    "hyperpod": ["hyperpodrun", "train.py"],
}
"""A command for each framework of a launcher."""


def job_of_kind(kind: JobKind) -> dict[str, Any]:
    """The keys of a job of a kind: of the first launcher that it runs, or without one where its nodes have no peers."""
    command = ["python", "shard.py"]
    if kind.has_peers:
        command = _PROGRAMS[kind.launchers[0]]
    return {"kind": kind.name, "command": command}
