"""What no single test would miss: routes that lead nowhere, names that are no fields, kinds without a guarantee."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import yaml
from builders import SPECS, example, spec
from modules import nodes
from running import Command
from trainyard.language.models.models import model_of
from trainyard.language.places import Key, Route
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.plan.base import PlanItem
from trainyard.plan.features import parts
from trainyard.run.driver import check
from trainyard.run.language.whole import language
from trainyard.run.lower import lower
from trainyard.run.outcome import Options
from trainyard.run.writer import known_runs
from trainyard.verify import verify
from trainyard.verify.references import POD_SPECS, REFERENCES


def kinds_at(hint: Any, route: tuple[Key, ...]) -> bool:
    """Whether a route leads to something that a type of the spec can hold."""
    if not route:
        return True
    key, rest = route[0], route[1:]
    model = model_of(hint)
    if model is not None:
        hints = get_type_hints(model, include_extras=True)
        return any(
            kinds_at(hints[name], rest)
            for name, field in model.model_fields.items()
            if key in (field.alias, name)
        )
    origin, arguments = getattr(hint, "__origin__", None), get_args(hint)
    if origin is list:
        return isinstance(key, int) and kinds_at(arguments[0], rest)
    if origin is dict:
        return isinstance(key, str) and kinds_at(arguments[1], rest)
    return any(kinds_at(argument, route) for argument in arguments)


def routes_of(plan: Plan) -> Iterator[tuple[str, Route]]:
    """Every route of a plan, and of what it is lowered to, with what it belongs to."""
    for value in plan.derived:
        if value.at is not None:
            yield f"{value.object} {value.field}", value.at
    for node in nodes_of(plan):
        name = f"{type(node).__name__} {getattr(node, 'name', '')}"
        yield name, node.at
        for field, route in node.origins.items():
            yield f"{name}.{field}", route
    for manifest in lower(plan):
        yield str(manifest.ref), manifest.at
        for path, route in manifest.origins.items():
            yield f"{manifest.ref} {Route(path)}", route


def nodes_of(value: Any) -> Iterator[PlanItem]:
    """Every node in a value, at any depth."""
    if isinstance(value, PlanItem):
        yield value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from nodes_of(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from nodes_of(item)


def astray(plan: Plan) -> list[str]:
    return [
        f"{name}: {route}"
        for name, route in routes_of(plan)
        if route and not str(route[0]).startswith("@") and not kinds_at(language(), route)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_every_route_is_a_path_of_the_spec(name: str) -> None:
    plan = example(name)[1]
    assert len(list(routes_of(plan))) > 100
    assert astray(plan) == []


ROOT = Path(__file__).parents[1]


def kinds_of(kind: type) -> Iterator[type]:
    """A class and every one that is made of it."""
    yield kind
    for part in kind.__subclasses__():
        yield from kinds_of(part)


assert parts("plan")  # so that every node is there
FIELDS = {
    name
    for kind in kinds_of(PlanItem)
    for name in (*(field.name for field in fields(kind)), *vars(kind))
    if not name.startswith("_")
}


def named_places() -> Iterator[tuple[str, str]]:
    """Each literal name that `where()` is asked for, with the file that asks."""
    for path in sorted([*(ROOT / "policies").rglob("*.py"), *(ROOT / "compiler").rglob("*.py")]):
        for node in nodes(path, "where"):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "where"
            ):
                for argument in node.args:
                    if isinstance(argument, ast.Constant):
                        yield str(path.relative_to(ROOT)), str(argument.value)


@pytest.mark.slow
def test_every_name_of_a_place_is_a_field() -> None:
    places = list(named_places())
    assert len(places) > 100
    assert [(path, name) for path, name in places if name not in FIELDS] == []


QUEUED = "kueue.x-k8s.io/queue-name"
ANNOTATIONS = "kustomize.toolkit.fluxcd.io/"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Manifest], Path]:
    """Every object that runs work: one that Kueue admits. The command has what Flux would substitute."""
    folder = tmp_path_factory.mktemp("work")
    data = spec(job={"command": ["bash", "-c", "exec torchrun --nnodes ${NODES:-2} t.py"]})
    (folder / "spec.yaml").write_text(yaml.safe_dump(data))
    (done,) = check([folder / "spec.yaml"], Options(output=folder / "generated")).compilations
    found = [
        manifest
        for manifest in done.manifests
        if QUEUED in manifest.body["metadata"].get("labels", {})
    ]
    assert found
    return found, folder


def test_what_runs_work_runs_once(work: tuple[list[Manifest], Path]) -> None:
    """Flux deletes none of it, and each has a run that is remembered."""
    manifests, folder = work
    (done,) = check([folder / "spec.yaml"], Options(output=folder / "generated")).compilations
    remembered = {(run.namespace, run.object) for run in known_runs(done)}
    for manifest in manifests:
        assert manifest.body["metadata"]["annotations"][f"{ANNOTATIONS}prune"] == "disabled", (
            manifest.ref.kind
        )
        assert (manifest.ref.namespace, manifest.ref.name) in remembered, manifest.ref.kind


def test_flux_substitutes_nothing_in_what_runs_work(work: tuple[list[Manifest], Path]) -> None:
    for manifest in work[0]:
        assert "${NODES" in str(manifest.body)
        assert manifest.body["metadata"]["annotations"][f"{ANNOTATIONS}substitute"] == "disabled", (
            manifest.ref.kind
        )


@pytest.mark.needs("review")
def test_the_report_names_what_runs_work(
    work: tuple[list[Manifest], Path], trainyard: Command
) -> None:
    manifests, folder = work
    text = trainyard("report", "spec.yaml", cwd=folder).out
    for manifest in manifests:
        assert f"{manifest.ref.namespace}/{manifest.ref.name}" in text, manifest.ref.kind


def test_references_of_what_runs_work_are_followed(work: tuple[list[Manifest], Path]) -> None:
    """A reference into nothing is found, at the least that of its queue."""
    for manifest in work[0]:
        assert (manifest.ref.group, manifest.ref.kind) in {*REFERENCES, *POD_SPECS}, (
            manifest.ref.kind
        )
        alone = verify([manifest], closed=True)
        assert "REF001" in {found.code for found in alone}, manifest.ref.kind


def test_rules_do_not_see_the_train_job_of_a_work() -> None:
    """A rule on `Work` holds for every kind that runs work; one on TrainJobs asks for `TrainJob`."""
    seen = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "policies").rglob("*.py"))
        for node in nodes(path, "work.job")
        if isinstance(node, ast.Attribute)
        and node.attr == "job"
        and isinstance(node.value, ast.Name)
        and node.value.id == "work"
    ]
    assert seen == []
