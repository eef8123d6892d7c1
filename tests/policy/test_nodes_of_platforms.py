"""A rule sees what a platform gives to the plan: nodes of the core, or what is one of them.

What EKS gives for a spec of the language alone, and a rule or a pass over all platforms reads, each platform gives
too, or ``NOT_GIVEN`` of its ``answers.py`` says by the node's name why it need not: rules would see nothing there,
and say nothing. What is read of CloudFormation is there where a platform writes some.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from builders import ROOT
from trainyard.core.cloud.plan import CloudResource
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.source.libyaml import DUMPER, yaml
from trainyard.plan.base import PlanItem
from trainyard.plan.features import Platform, parts
from trainyard.run.examples.rehearse import from_spec, merged
from trainyard.run.platforms import PLATFORMS

from tests.policy.test_same_keys import based

pytestmark = pytest.mark.slow

ASKS = ("of", "every", "one", "named")
"""What a plan is asked by for nodes of a kind."""
READERS = (
    "policies",
    "compiler/trainyard/judge/model",
    *(f"compiler/trainyard/extensions/{one}" for one in ("forecast", "review")),
)
OF_THE_LANGUAGE: Mapping[str, Any] = {
    "storage": [
        {"name": "data", "fsxLustre": {"create": {"size": "1200Gi", "throughputPerTiB": 125}}}
    ],
    "jobs": [
        {
            "name": "llama",
            "timeout": "24h",
            "expected": "10h",
            "mounts": [{"storage": "data", "path": "/data"}],
            "checkpoint": {"path": "/data/llama", "every": "30m"},
            "model": {"parameters": 7e9, "sharding": "full"},
        }
    ],
}
BLOCK = {
    "reservations": [{"id": "cr-0a1b2c3d4e5f60718"}],
    "starts": "2026-12-01T11:30:00Z",
    "ends": "2026-12-03T11:30:00Z",
}
PARTS: Mapping[str, Mapping[str, Any]] = {
    "nodePools.capacity.block": {"nodePools": [{"name": "gpu", "capacity": {"block": BLOCK}}]}
}
"""By a key that a platform may not take, what is laid over the spec where it does."""


def kinds_of(kind: type[PlanItem]) -> Iterator[type[PlanItem]]:
    for each in kind.__subclasses__():
        yield each
        yield from kinds_of(each)


@cache
def of_the_core() -> Mapping[str, type[PlanItem]]:
    assert parts("plan")  # so that every node is there
    return {
        kind.__name__: kind
        for kind in kinds_of(PlanItem)
        if kind.__module__.startswith("trainyard.core.") and not issubclass(kind, CloudResource)
    }


def read_in(tree: ast.AST) -> Iterator[str]:
    """The names by which a plan is asked, and the first parameter of a rule."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ASKS:
            yield from (one.id for one in node.args if isinstance(one, ast.Name))
        if isinstance(node, ast.FunctionDef) and node.decorator_list and node.args.args:
            annotation = node.args.args[0].annotation
            if isinstance(annotation, ast.Name):
                yield annotation.id


@cache
def readers() -> Mapping[str, list[str]]:
    """The files that read a node of the core, by its name."""
    found: dict[str, list[str]] = {}
    for folder in READERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name in sorted({*read_in(ast.parse(path.read_text()))} & of_the_core().keys()):
                found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return found


@cache
def given(name: str) -> frozenset[str]:
    """The nodes of the core that rules find in a cluster of a platform."""
    spec = merged(based("" if name == "eks" else name), {"spec": OF_THE_LANGUAGE})
    for key, part in PARTS.items():
        if PLATFORMS[name].instead_of(key) is None:
            spec = merged(spec, {"spec": part})
    plan, _ = from_spec(yaml.dump(spec, Dumper=DUMPER))
    return frozenset(known for known, kind in of_the_core().items() if plan.of(kind))


def not_given(platform: Platform) -> Mapping[str, str]:
    said: Mapping[str, str] = getattr(platform.asked(), "NOT_GIVEN", {})
    return said


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_platform_gives_what_rules_read(name: str) -> None:
    excused = not_given(PLATFORMS[name])
    missing = (given("eks") & readers().keys()) - given(name) - excused.keys()
    said = [
        f"{name} gives no {kind}, and says not why: it is read by {listed(readers()[kind])}"
        for kind in sorted(missing)
    ]
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", PLATFORMS)
def test_what_is_not_given_is_read_and_has_a_reason(name: str) -> None:
    excused = not_given(PLATFORMS[name])
    assert excused.keys() <= (given("eks") & readers().keys()) - given(name)
    assert all(len(reason.split()) > 3 for reason in excused.values())


def test_the_nodes_that_rules_read_are_found() -> None:
    read = given("eks") & readers().keys()
    assert read >= {"Pool", "Gang", "Queue", "RegionalCluster", "NodeShare"}
    assert read >= {"CapacityWindow", "CheckpointSchedule", "ExpectedLength", "TrainingState"}
    assert "policies/queues/gang_exceeds_quota.py" in readers()["NodeShare"]
