"""A platform: its subjects, the keys of the spec that it understands, and what it resolves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import document, spec, summaries

from compiler.catalog import InstanceType, load_catalog
from compiler.context import Context
from compiler.core.pools import spec as spec_pools
from compiler.core.pools.share import Share
from compiler.language.load import load, platform_of
from compiler.plan.units import Quantity
from compiler.platforms import EKS, PLATFORMS
from compiler.platforms.eks.nodes.plan import NodePool
from compiler.platforms.eks.runs.plan import TrainJob
from compiler.resolve import resolve
from compiler.rooms import Platform, parts

WITHOUT_HEALTH = Platform(
    "plain",
    tuple(name for name in EKS.subjects if name != "health"),
    EKS.node_share,
    {"health": "its nodes watch themselves"},
)


def test_every_subject_of_a_platform_is_there() -> None:
    for platform in PLATFORMS.values():
        assert len(set(platform.rooms)) == len(platform.rooms)
        for subject in platform.rooms:
            having = [parts(name, (subject,)) for name in ("spec", "resolve", "target")]
            assert any(having), subject


def test_every_section_of_the_spec_belongs_to_a_platform() -> None:
    """A section that no platform lists could never be written."""
    listed = {name for platform in PLATFORMS.values() for name in platform.rooms}
    having = {module.__name__.split(".")[2] for module in parts("spec")}
    assert having <= listed


def test_a_spec_names_its_platform() -> None:
    assert platform_of(document(spec())) is EKS
    assert platform_of(document(spec(platform={"eks": {}}))) is EKS
    assert platform_of(document(spec(platform={"other": {}}))) is EKS


def test_a_key_of_another_platform_is_one_error_with_what_to_write() -> None:
    model, faults = load(document(spec(health={"repair": False})), WITHOUT_HEALTH)
    assert model is None
    assert summaries(faults) == [
        ("SPC006", "spec.health", "`health` is no part of platform `plain`")
    ]
    assert faults[0].help == "its nodes watch themselves"
    assert load(document(spec(health={"repair": False})), EKS)[1] == []
    (unknown,) = load(document(spec(helth={})), WITHOUT_HEALTH)[1]
    assert unknown.code == "SPC002"


@pytest.mark.parametrize("missing", ["namespaces", "delivery"])
def test_without_help_the_keys_that_there_are_are_listed(missing: str) -> None:
    subjects = tuple(name for name in EKS.subjects if name != missing)
    key = {"namespaces": "namespaces", "delivery": "flux"}[missing]
    given = {"namespaces": [{"name": "a"}], "flux": {"branch": "prod"}}[key]
    faults = load(document(spec(**{key: given})), Platform("other", subjects, EKS.node_share))[1]
    assert [fault.code for fault in faults] == ["SPC006"]
    assert "`nodePools`" in faults[0].help


def test_the_plan_of_a_platform_is_what_its_subjects_resolve() -> None:
    """Fewer subjects, fewer nodes; nobody else notices."""
    model, faults = load(document(spec()))
    assert model is not None, faults
    nodes_alone = Platform("nodes", ("network", "pools", "queues"), EKS.node_share)
    plan, found = resolve(model, load_catalog(), platform=nodes_alone)
    assert plan is not None, summaries(found)
    assert plan.of(NodePool)
    assert not plan.of(TrainJob)


def whole_nodes(
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


def test_a_platform_says_what_jobs_get_of_a_node() -> None:
    model, faults = load(document(spec()))
    assert model is not None, faults
    bare = replace(EKS, node_share=f"{__name__}:{whole_nodes.__name__}")
    cores = {}
    for platform in (EKS, bare):
        plan, found = resolve(model, load_catalog(), platform=platform)
        assert plan is not None, summaries(found)
        (job,) = plan.of(TrainJob)
        cores[platform] = job.requests["cpu"]
    assert cores[EKS] < cores[bare] == Quantity.of(96)  # p4d.24xlarge has 96 vCPUs
