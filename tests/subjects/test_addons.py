"""Add-ons: each in one file, found by being there, and of a cluster only if it uses them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import (
    FSX,
    RELEASE,
    SPECS,
    example,
    faults_of,
    listed_versions,
    manifests_of,
    plan_of,
    spec,
)
from trainyard.catalog import Catalog, InstanceType, load_catalog
from trainyard.catalog.catalog import DATA, Releases
from trainyard.eks import addons
from trainyard.eks.addons.addon import (
    BOOTSTRAP,
    EKS,
    EVERYWHERE,
    HELM,
    KUSTOMIZE,
    MANIFESTS,
    OWN,
    AddOn,
    Container,
    Daemon,
    Setting,
)
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.kueue.resolve import queue_manager
from trainyard.eks.nodes.daemons import daemons
from trainyard.eks.nodes.requested import requests_in
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.plan.context import Context
from trainyard.plan.features import extension_modules, extensions
from trainyard.plan.shipped import KEYS
from trainyard.run.examples.rehearse import merged
from trainyard.run.language.reference import all_keys
from trainyard.run.language.whole import language
from trainyard.run.lower import lower
from trainyard.run.platforms import PLATFORMS
from trainyard.run.resolve import resolve
from trainyard.verify.formats import objects

ADD_ONS = list(addons.addons().values())
RELEASED = [addon for addon in ADD_ONS if addon.by != OWN]
RELEASES = list(load_catalog().releases.values())
EVERYTHING = spec(
    **{key: {} for key in ("monitoring",) if KEYS[key] in extensions()},
    storage=[
        {"name": "data", "fsxLustre": {"existing": FSX}},
        {"name": "bucket", "s3": {"existing": {"bucket": "example-data"}}},
    ],
)
CPU = spec(
    pool={"instanceTypes": ["m7i.8xlarge"], "zones": ["us-west-2a"], "efa": False},
    health={"nodeMonitoringAgent": False},
)


def context_of(data: dict[str, Any]) -> Context:
    read = language().model_validate(data)
    return Context(
        read.metadata.name, read.spec, load_catalog(), RELEASE, "generated", PLATFORMS["eks"]
    )


def setting_of(data: dict[str, Any]) -> Setting:
    context = context_of(data)
    return Setting(context, queue_manager(context))


EXAMPLES = {key.path: key.example for key in all_keys()}


def asking_for(addon: AddOn) -> dict[str, Any]:
    """A spec with everything, and with the key that asks for the add-on, by the example of its field."""
    _, *keys = addon.at
    below: Any = EVERYTHING["spec"]
    while keys and keys[0] in below:
        below = below[keys.pop(0)]
    if addon.wanted(context_of(EVERYTHING)) or not keys:
        return EVERYTHING
    value = yaml.safe_load(EXAMPLES[str(addon.at)])
    for key in reversed(addon.at[1:]):
        value = {key: value}
    return merged(EVERYTHING, {"spec": value})


@pytest.mark.needs("observability")
def test_the_key_of_an_add_on_is_switched_on_by_its_example() -> None:
    asked = [addon for addon in RELEASED if asking_for(addon) is not EVERYTHING]
    assert {"cilium", "alloy", "opencost"} <= {addon.component for addon in asked}
    assert [addon for addon in asked if not addon.wanted(context_of(asking_for(addon)))] == []


def test_the_newest_release_has_every_add_on() -> None:
    """An older one need not: a cluster of it that needs the add-on is told to take a newer release (RES270)."""
    assert {addon.component for addon in RELEASED} - RELEASE.components.keys() == set()


@pytest.mark.parametrize("addon", RELEASED, ids=lambda addon: addon.component)
@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_a_release_has_what_its_add_ons_are_installed_from(addon: AddOn, release: Any) -> None:
    component = release.components.get(addon.component)
    if component is None:
        assert release is not RELEASE
        return
    needed = {
        HELM: component.chart,
        KUSTOMIZE: component.git,
        EKS: component.build,
        MANIFESTS: component.image,
        BOOTSTRAP: component.version,
    }
    assert needed[addon.by]


@pytest.mark.parametrize(
    "addon", [addon for addon in ADD_ONS if addon.reach], ids=lambda addon: addon.component
)
def test_agents_reach_every_pool(addon: AddOn) -> None:
    values: Any = addon.values(setting_of(asking_for(addon)))
    for key in addon.reach:
        values = values[key]
    assert values in (EVERYWHERE, True)


def test_every_chart_with_a_daemon_set_says_how_it_reaches_tainted_nodes() -> None:
    agents = [addon for addon in ADD_ONS if addon.by == HELM and addon.daemons]
    assert agents
    assert [addon.component for addon in agents if not addon.reach] == []


def test_every_file_has_an_add_on() -> None:
    """A file without ``ADD_ON`` would be passed over: only what several add-ons share has none."""
    folder = Path(addons.__file__).parent
    files = {file.stem for file in folder.glob("*.py")} - {"__init__", "addon", "placing"}
    assert len(files) + len(extension_modules("addons")) == len(ADD_ONS)


def test_an_add_on_comes_after_those_that_it_waits_for() -> None:
    order = list(addons.addons())
    waiting = [addon for addon in ADD_ONS if addon.after]
    assert waiting
    for addon in waiting:
        for earlier in addon.after:
            assert order.index(earlier) < order.index(addon.component)


# --- what a cluster uses


def test_no_version_of_what_a_cluster_does_not_use_is_listed() -> None:
    plan = plan_of(CPU)
    listed = listed_versions(plan)
    for absent in (
        "node-problem-detector",
        "neuron-helm-chart",
        "nvidia-device-plugin",
        "aws-efa-k8s-device-plugin",
        "eks-node-monitoring-agent",
        "aws-fsx-csi-driver",
        "aws-mountpoint-s3-csi-driver",
    ):
        assert RELEASE.components[absent].version
        assert absent not in listed
    assert {"kubernetes", "eksctl", "ami", "flux", "karpenter", "kueue"} <= listed.keys()


def test_versions_of_what_a_cluster_uses_are_listed() -> None:
    plan = plan_of(EVERYTHING)
    charts = {release.name for release in plan.of(HelmRelease)}
    assert "aws-fsx-csi-driver" in charts
    listed = listed_versions(plan)
    for name in charts - {"karpenter-crd"}:
        assert listed[name] == RELEASE.version(name)


_BUILT_IN = (
    "v1",
    "apps/",
    "batch/",
    "policy/",
    "storage.k8s.io/",
    "scheduling.k8s.io/",
    "networking.k8s.io/",
    "rbac.authorization.k8s.io/",
    "admissionregistration.k8s.io/",
    "eksctl.io/",
)
# By `flux bootstrap`: installed before anything that we write.
_OF_FLUX = tuple(
    f"{part}.toolkit.fluxcd.io/" for part in ("source", "helm", "kustomize", "notification")
)


@pytest.mark.parametrize("name", SPECS)
def test_every_custom_kind_is_brought_by_a_component_that_is_used(name: str) -> None:
    _, plan = example(name)
    brought = {
        f"{kind.partition('/')[0]}/{version}/{kind.partition('/')[2]}"
        for component in (release.name for release in plan.of(HelmRelease))
        for kind, versions in RELEASE.components[component].crds.items()
        for version in versions
    }
    custom = {
        f"{manifest.body['apiVersion']}/{manifest.body['kind']}"
        for manifest in objects(lower(plan))
        if not manifest.body["apiVersion"].startswith((*_BUILT_IN, *_OF_FLUX))
    }
    assert len(custom) > 5
    assert custom <= brought


def test_the_namespace_of_a_chart_is_the_systems_where_it_is_used() -> None:
    queues = [{**QUEUE, "namespaces": [RELEASE.chart("nvidia-device-plugin").namespace]}]
    (fault,) = faults_of(spec(queues=queues))
    assert fault.code == "RES021"
    assert faults_of({**CPU, "spec": {**CPU["spec"], "queues": queues}}) == []


QUEUE = {"name": "all", "quota": [{"pool": "gpu", "nodes": 4}]}


# --- a file that is dropped in

_FILE = """
from trainyard.core.pools.pools import pool_types
from trainyard.eks.addons.addon import AddOn, Controller, Daemon, on_gpus

def wanted(context):
    return any(instance.gpus for _, instance in context.once(pool_types))

def values(setting):
    return {"tolerations": [{"operator": "Exists"}]}

ADD_ON = AddOn(
    component="gpu-exporter",
    wanted=wanted,
    values=values,
    reach=("tolerations",),
    after=("nvidia-device-plugin",),
    daemons=(Daemon("gpu-exporter", 100, 128, "its chart", on=on_gpus, kept=False),),
    controllers=(Controller("gpu-exporter", 1, 10, 10, "its chart"),),
)
"""
_FACTS = {
    "version": "4.5.6",
    "supported": ["4.5"],
    "source": "example",
    "checked": "2026-11-21",
    "chart": {
        "name": "gpu-exporter",
        "repository": "https://charts.example.com/exporter",
        "kind": "http",
        "namespace": "monitoring",
        "source": "example",
    },
}


@pytest.fixture
def dropped_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Catalog]:
    """One more add-on: its file, and its file in the release. Nothing else."""
    (tmp_path / "addons").mkdir()
    (tmp_path / "addons" / "gpu_exporter.py").write_text(_FILE)
    shutil.copytree(DATA / "releases", tmp_path / "releases")
    facts = tmp_path / "releases" / RELEASE.name / "gpu-exporter.json"
    facts.write_text(json.dumps(_FACTS))
    monkeypatch.setattr(addons, "__path__", [*addons.__path__, str(tmp_path / "addons")])
    addons.addons.cache_clear()
    catalog = Catalog(json.loads((DATA / "instances.json").read_bytes()))
    catalog.__dict__["releases"] = Releases(tmp_path / "releases")
    yield catalog
    monkeypatch.undo()
    addons.addons.cache_clear()


def _resolved(data: dict[str, Any], catalog: Catalog) -> list[Manifest]:
    plan, faults = resolve(language().model_validate(data), catalog)
    assert plan is not None, faults
    return lower(plan)


def _bodies(manifests: list[Manifest]) -> Mapping[str, Any]:
    return {manifest.path: manifest.body for manifest in manifests}


_BEFORE = _bodies(manifests_of(spec()))
_CPU_BEFORE = _bodies(manifests_of(CPU))
_SHARE_BEFORE = [each.value for each in plan_of(spec()).derived if each.field == "share"]


def test_an_add_on_that_is_dropped_in_is_installed(dropped_in: Catalog) -> None:
    after = _bodies(_resolved(spec(), dropped_in))
    made = "controllers/helmrelease-gpu-exporter.yaml"
    assert made not in _BEFORE
    release = after[made]["spec"]
    assert release["chart"]["spec"]["version"] == _FACTS["version"]
    assert release["dependsOn"] == [{"name": "nvidia-device-plugin"}]
    assert release["targetNamespace"] == "monitoring"
    assert release["values"] == {"tolerations": EVERYWHERE}
    assert "controllers/helmrepository-charts-example-com-exporter.yaml" in after


def test_an_add_on_that_an_older_release_lacks_is_an_error_at_the_release(
    dropped_in: Catalog,
) -> None:
    older = min(dropped_in.releases)
    plan, faults = resolve(language().model_validate(spec(release=older)), dropped_in)
    assert plan is None
    (fault,) = faults
    assert (fault.code, str(fault.at)) == ("RES270", "spec.release")
    assert "gpu-exporter" in fault.message
    assert RELEASE.name in fault.help


def test_an_add_on_that_is_dropped_in_changes_no_cluster_without_it(dropped_in: Catalog) -> None:
    after = objects(_resolved(CPU, dropped_in))
    assert _bodies(after) == _CPU_BEFORE


def _version_listed(plan: Plan, component: str) -> str:
    (value,) = [value for value in plan.derived if value.field == f"components.{component}.version"]
    return value.value


def test_an_add_on_that_is_dropped_in_takes_its_share(dropped_in: Catalog) -> None:
    plan, _ = resolve(language().model_validate(spec()), dropped_in)
    assert plan is not None
    steps = [each.value for each in plan.derived if each.field == "share"]
    assert steps != _SHARE_BEFORE
    assert _version_listed(plan, "gpu-exporter") == _FACTS["version"]


def test_add_ons_that_wait_for_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (AddOn(component="one", after=("two",)), AddOn(component="two", after=("one",)))
    with pytest.raises(ValueError, match="one, two"):
        addons._in_order([one, two])


def test_a_share_is_kept_free_for_what_may_come() -> None:
    """A storage that is added later makes no job that runs too large."""
    gpus: InstanceType = load_catalog().instance_types["p4d.24xlarge"]
    from trainyard.eks.nodes.daemons import daemons, running

    context = context_of(spec())
    kept = {daemon.name for daemon in daemons(context, gpus)}
    runs = {daemon.name for daemon in running(context, gpus)}
    assert runs < kept
    assert "fsx-csi-node" in kept - runs


CLOUDWATCH = "amazon-cloudwatch-observability"


def watched(**parts: Any) -> dict[str, Any]:
    """A cluster with the CloudWatch agent, whose nodes have GPUs."""
    return spec(platform={"eks": {"addons": {CLOUDWATCH: {}}}}, **parts)


def configured(data: dict[str, Any]) -> Any:
    """The configuration of the CloudWatch add-on."""
    (cluster,) = plan_of(data).of(Cluster)
    (addon,) = [each for each in cluster.addons if each.name == CLOUDWATCH]
    return addon.values


@pytest.mark.needs("observability")
def test_one_exporter_of_gpus_reads_their_counters() -> None:
    """Two host engines keep each other from profiling counters: the add-on's is off where ours is on."""
    assert configured(watched()) == {}
    off = {"dcgmExporter": {"enabled": False}, "neuronMonitor": {"enabled": False}}
    assert configured(watched(monitoring={})) == off
    own = {CLOUDWATCH: {"values": {"neuronMonitor": {"enabled": True}}}}
    data = spec(platform={"eks": {"addons": own}}, monitoring={})
    assert configured(data) == {**off, "neuronMonitor": {"enabled": True}}


@pytest.mark.needs("observability")
def test_the_agents_of_cloudwatch_take_their_share() -> None:
    """250 and 50 milli-CPU on every node, and 250 more of the exporter of GPUs where it is on."""
    (gpu,) = [each for name, each in load_catalog().instance_types.items() if name == "p5.48xlarge"]
    taken = {
        name: sum(daemon.cpu for daemon in daemons(context_of(data), gpu))
        for name, data in {
            "none": spec(),
            "watched": watched(),
            "monitored": spec(monitoring={}),
            "both": watched(monitoring={}),
        }.items()
    }
    assert taken["watched"] - taken["none"] == 250 + 50 + 250
    assert taken["both"] - taken["monitored"] == 250 + 50


def _daemons() -> Iterator[Daemon]:
    context = context_of(watched())
    for addon in ADD_ONS:
        yield from addon.daemons
        yield from addon.agents(context)


DAEMONS = {daemon.name: daemon for daemon in _daemons()}
WITHOUT_VALUES = {"efa-exporter", "node-problem-detector"}
"""What we write ourselves: a patch changes it."""


@pytest.mark.parametrize("name", DAEMONS)
def test_values_of_each_container_change_what_a_daemon_set_takes(name: str) -> None:
    daemon = DAEMONS[name]
    containers = daemon.containers or (Container(daemon.cpu, daemon.memory, (daemon.resources,)),)
    assert sum(each.cpu for each in containers) == daemon.cpu
    assert sum(each.memory for each in containers) == daemon.memory
    paths = [path for each in containers for path in each.resources if path]
    assert bool(paths) == (name not in WITHOUT_VALUES)
    for path in paths:
        values: Any = {"requests": {"cpu": "3", "memory": "3Gi"}}
        for key in reversed(path):
            values = {key: values}
        own = [each for each in containers if path in each.resources]
        cpu, memory, said = requests_in(values, daemon)
        assert said == path
        assert cpu - daemon.cpu == sum(3000 - each.cpu for each in own)
        assert memory - daemon.memory == sum(3 * 1024 - each.memory for each in own)
    assert requests_in({}, daemon) == (daemon.cpu, daemon.memory, ())
