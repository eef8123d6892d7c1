"""A platform: its subjects, the keys of the spec that it understands, and what it resolves."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import ROOT, document, spec, summaries
from trainyard.catalog import InstanceType, Release, load_catalog
from trainyard.core.jobs.binding import bound_jobs
from trainyard.core.jobs.environment import environment
from trainyard.core.jobs.job import Job, Kind
from trainyard.core.jobs.requests import requests
from trainyard.core.pools import spec as spec_pools
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.share import Share
from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.nodes.plan import NodePool
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.units import Quantity
from trainyard.plan.context import Context
from trainyard.plan.features import Platform, parts
from trainyard.run.language.load import load, platform_of
from trainyard.run.platforms import EKS, PLATFORMS
from trainyard.run.resolve import resolve

EKS_ANSWERS = "trainyard.eks.answers"
WITHOUT_HEALTH = Platform(
    "plain",
    tuple(name for name in EKS.features if name != "core.health"),
    {"health": "its nodes watch themselves"},
    answers=EKS_ANSWERS,
)


def test_every_room_of_a_platform_is_there() -> None:
    for platform in PLATFORMS.values():
        assert len(set(platform.features)) == len(platform.features)
        for feature in platform.features:
            having = [parts(name, (feature,)) for name in ("spec", "resolve", "lower", "lift")]
            assert any(having), feature


@pytest.mark.needs("observability")
def test_every_section_of_the_spec_belongs_to_a_platform() -> None:
    """A section that no platform lists could never be written."""
    listed = {name for platform in PLATFORMS.values() for name in platform.features}
    having = {
        module.__name__.removeprefix("trainyard.").removesuffix(".spec") for module in parts("spec")
    }
    assert having <= listed


def test_a_spec_names_its_platform() -> None:
    assert platform_of(document(spec())) is EKS
    assert platform_of(document(spec(platform={"eks": {}}))) is EKS
    assert platform_of(document(spec(platform={"other": {}}))) is EKS


def test_a_key_of_another_platform_is_one_error_with_what_to_write() -> None:
    model, faults = load(document(spec(health={"nodeRepair": False})), WITHOUT_HEALTH)
    assert model is None
    assert summaries(faults) == [
        ("SPC006", "spec.health", "`health` is no part of platform `plain`")
    ]
    assert faults[0].help == "its nodes watch themselves"
    assert load(document(spec(health={"nodeRepair": False})), EKS)[1] == []
    (unknown,) = load(document(spec(helth={})), WITHOUT_HEALTH)[1]
    assert unknown.code == "SPC002"


@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name, platform in PLATFORMS.items() for key in platform.instead],
)
def test_a_key_that_a_platform_does_not_take_is_an_error_wherever_it_stands(
    name: str, key: str
) -> None:
    value: Any = {}
    for part in reversed(key.split(".")):
        value = {part: value}
    data = spec()
    data["spec"] = {**value, "platform": {name: {}} | value.get("platform", {})}
    _, faults = load(document(data), PLATFORMS[name])
    said = {str(fault.at): fault.help for fault in faults if fault.code == "SPC006"}
    assert said[f"spec.{key}"] == PLATFORMS[name].instead[key]


@pytest.mark.parametrize("missing", ["core.teams", "core.delivery"])
def test_without_help_the_way_to_the_keys_that_there_are_is_named(missing: str) -> None:
    features = tuple(name for name in EKS.features if name != missing)
    key = {"core.teams": "namespaces", "core.delivery": "flux"}[missing]
    given = {"namespaces": [{"name": "a"}], "flux": {"branch": "prod"}}[key]
    faults = load(document(spec(**{key: given})), Platform("other", features, answers=EKS_ANSWERS))[
        1
    ]
    assert [fault.code for fault in faults] == ["SPC006"]
    assert "`trainyard explain --platforms`" in faults[0].help


def test_the_plan_of_a_platform_is_what_its_rooms_resolve() -> None:
    """Fewer features, fewer nodes; nobody else notices."""
    model, faults = load(document(spec()))
    assert model is not None, faults
    features = ("core.network", "core.pools", "eks.nodes", "eks.kueue")
    nodes_alone = Platform("nodes", features, answers=EKS_ANSWERS)
    plan, found = resolve(model, load_catalog(), platform=nodes_alone)
    assert plan is not None, summaries(found)
    assert plan.of(NodePool)
    assert not plan.of(TrainJob)


class Batch(Kind):
    """A scheduler that knows nothing of Kubernetes."""

    name = "batch"

    def host(self, job: Job, name: str) -> str:
        return "node-1"


class ByHand(Launcher):
    """Nodes that are there."""

    name = "by hand"


def kinds() -> dict[str, Kind]:
    return {"batch": Batch()}


def node_share(
    context: Context, pool: spec_pools.NodePool, instance: InstanceType, *, efa: bool
) -> Share:
    """Nodes of which nothing is taken: no reserve, no huge pages, no DaemonSet."""
    return Share(
        cpu=instance.vcpus,
        memory=Quantity.mib(instance.memory_mib),
        accelerators=instance.accelerators,
        resource=instance.accelerator_resource,
        efa=0,
        huge_pages=Quantity(0),
        left=(instance.vcpus * 1000, instance.memory_mib),
        agents=(0, 0),
    )


def launcher(context: Context, pool: spec_pools.NodePool) -> Launcher:
    """Nodes that somebody starts by hand."""
    return ByHand()


def own_versions(spec: ClusterSpec) -> dict[str, str]:
    return {}


def check_release(spec: ClusterSpec, release: Release) -> list[Diagnostic]:
    return []


def settle(context: Context) -> None:
    pass


CORE = tuple(feature for feature in EKS.features if feature.startswith("core."))
BARE = Platform("bare", CORE, answers=__name__)


def test_the_core_needs_no_platform() -> None:
    """Pools, queues and jobs mean the same where nothing of EKS is there: no section is missed, no code of it runs."""
    data = spec(platform=None, queues=[{"name": "q", "namespaces": ["a"], "quota": []}])
    data["spec"]["queues"][0]["quota"] = [
        {"pool": data["spec"]["nodePools"][0]["name"], "nodes": 1}
    ]
    model, faults = load(document(data), BARE)
    assert model is not None, summaries(faults)
    context = Context(
        "bare", model.spec, load_catalog(), load_catalog().newest_release, "generated", BARE
    )
    (job,) = context.once(bound_jobs)
    assert summaries(context.diagnostics) == []
    assert requests(context, job)["cpu"] == Quantity.of(96)
    assert environment(context, job)
    plan, found = resolve(model, load_catalog(), platform=BARE)
    assert plan is not None, summaries(found)


@pytest.mark.slow
def test_the_core_imports_nothing_of_a_platform() -> None:
    code = (
        "import sys\nfrom trainyard.plan.features import parts\n"
        f"features = {CORE!r}\n"
        "for name in ('spec', 'plan', 'resolve', 'lower'):\n    parts(name, features)\n"
        "import trainyard.core.jobs.binding, trainyard.core.jobs.environment, trainyard.core.jobs.model\n"
        "print(*(name for name in sys.modules if name.startswith('trainyard.eks.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")


@pytest.mark.slow
def test_every_platform_answers_the_core() -> None:
    """What the core asks, it asks by name: ``context.answers.kinds``."""
    by_core, by_eks = set(), set()
    for path in SOURCES.rglob("*.py"):
        found = by_eks if {"eks", "observability"} & {*path.parts} else by_core
        found |= set(re.findall(r"\banswers\.(\w+)\(", path.read_text()))
        found |= set(re.findall(r"\banswers\.(\w+)\n", path.read_text()))
    assert by_core == {
        *("check_release", "kinds", "launcher", "node_share", "nodes_export", "own_versions"),
        "settle",
    }
    assert by_eks - by_core == {"addon_values", "node_watch"}
    for platform in PLATFORMS.values():
        on_eks = "eks" in (platform.name, platform.stands_on)
        asked = by_core | by_eks if on_eks else by_core
        assert asked <= vars(platform.asked()).keys(), platform.name


@pytest.mark.needs("forecast")
def test_every_platform_says_what_the_report_asks_it() -> None:
    for platform in PLATFORMS.values():
        assert {"costs", "repair"} <= vars(platform.answering("forecast", "report")).keys(), (
            platform.name
        )
        assert "outcomes" in vars(platform.answering("forecast", "failures")), platform.name


def test_a_platform_says_what_jobs_get_of_a_node() -> None:
    model, faults = load(document(spec()))
    assert model is not None, faults
    cores = {}
    for platform in (EKS, BARE):
        context = Context(
            "c", model.spec, load_catalog(), load_catalog().newest_release, "generated", platform
        )
        (job,) = context.once(bound_jobs)
        cores[platform] = requests(context, job)["cpu"]
    assert cores[EKS] < cores[BARE] == Quantity.of(96)  # p4d.24xlarge has 96 vCPUs


SOURCES = ROOT / "compiler" / "trainyard"
ASKED = sorted(
    {
        name
        for path in SOURCES.rglob("*.py")
        if not {"eks", "extensions"} & set(path.parts)
        for name in re.findall(r"\banswers\.([a-z_]+)", path.read_text())
    }
)
RACK = Path(__file__).parent / "rack" / "answers.py"


@pytest.mark.needs("parallelcluster")
@pytest.mark.parametrize("name", ASKED)
def test_every_platform_answers_what_the_core_asks(name: str) -> None:
    """The one that the recipe adds too: what it lacks ends in INT000 where somebody writes the key that needs it."""
    for platform in PLATFORMS.values():
        assert callable(getattr(platform.asked(), name)), platform.name
    defined = [node.name for node in ast.parse(RACK.read_text()).body if hasattr(node, "name")]
    assert name in defined


@pytest.mark.needs("hyperpod", "parallelcluster")
def test_a_spec_has_one_platform() -> None:
    """`eks` beside `hyperPod` says what the cluster of EKS is, which HyperPod stands on."""
    both = spec(platform={"eks": {}, "parallelCluster": {}})
    (fault,) = load(document(both), platform_of(document(both)))[1]
    assert (fault.code, str(fault.at)) == ("SPC002", "spec.platform.parallelCluster")
    assert fault.message == "`parallelCluster` is a second platform, and a cluster has one"
