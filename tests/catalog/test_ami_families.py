"""Families of AMIs: every fact has a source, and one that is added as data is understood by all who ask."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import plan_of, spec
from trainyard.catalog import ami_families
from trainyard.catalog.ami_families import families, of_eksctl, of_karpenter
from trainyard.eks.nodes.plan import NodeClass
from trainyard.verify import BUILTIN

from tests.policy.harness import findings_for

DATA = json.loads((ami_families.DATA / "ami_families.json").read_bytes())
CLASS = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"
NEW: dict[str, Any] = {
    "title": "Amazon Linux 2040",
    "karpenter": "AL2040",
    "eksctl": "AmazonLinux2040",
    "ami_types": "AL2040",
    "drivers": {"nvidia.com/gpu": "CUDA"},
    "root_device": "/dev/nvme0n1",
    "first_release": "2026-05-01",
    "by_day": True,
    "runs_commands": True,
    "lustre": ["2.15"],
    "image_names": ["eks-2040-"],
    "parameters": ["/amazon-linux-2040/"],
    "last_kubernetes": "1.34",
    "sources": {},
}


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One more family in the data, and no code."""
    data = {"families": {**DATA["families"], "al2040": NEW}}
    (tmp_path / "ami_families.json").write_text(json.dumps(data))
    monkeypatch.setattr(ami_families, "DATA", tmp_path)
    families.cache_clear()
    yield
    families.cache_clear()


@pytest.mark.parametrize("alias", DATA["families"])
def test_every_fact_has_its_source_and_version(alias: str) -> None:
    facts = DATA["families"][alias]
    stated = facts.keys() - {"title", "sources"}
    assert facts["sources"].keys() == stated
    assert all(source and version for source, version in facts["sources"].values())


def codes(text: str) -> set[str]:
    return {finding.code for finding in findings_for(text)}


def with_alias(alias: str, more: str = "") -> str:
    return f"{CLASS}spec: {{amiSelectorTerms: [{{$patch: replace, alias: {alias}}}]{more}}}"


def test_without_it_nobody_knows_it() -> None:
    assert not codes(with_alias("al2040@v20260401")) & {"HLT057", "HLT041"}


def test_the_definition_knows_the_same_families() -> None:
    """Karpenter takes an alias of a family that its definition lists (EC2NodeClass, rules of `alias`)."""
    (rules,) = [
        rule
        for rule in rules_of("spec", "amiSelectorTerms", "alias")
        if rule.startswith("self.split('@')[0] in [") and "?" not in rule
    ]
    assert set(re.findall(r"'([a-z0-9]+)'", rules.partition(" in ")[2])) == set(DATA["families"])


def rules_of(*keys: str) -> tuple[str, ...]:
    (schema,) = BUILTIN.find("karpenter.k8s.aws/v1", "EC2NodeClass")
    node = schema.root
    for key in keys:
        inner = node.prop(key) or (node.items and node.items.prop(key))
        assert inner is not None, key
        node = inner
    return node.rules


@pytest.mark.usefixtures("added")
class TestAFamilyThatIsData:
    def test_is_found_by_each_of_its_names(self) -> None:
        family = families()["al2040"]
        assert of_karpenter("AL2040") is family
        assert of_eksctl("AmazonLinux2040") is family
        assert not family.is_for("1.35")

    def test_has_releases_by_day(self) -> None:
        assert "HLT057" in codes(with_alias("al2040@v20260401"))
        assert "HLT057" not in codes(with_alias("al2040@v20260601"))

    def test_boots_from_its_device(self) -> None:
        disk = ", blockDeviceMappings: [{deviceName: %s, ebs: {volumeSize: 500Gi}}]"
        assert "HLT020" in codes(with_alias("al2040@v20260601", disk % "/dev/sda1"))
        assert "HLT020" not in codes(with_alias("al2040@v20260601", disk % "/dev/nvme0n1"))

    def test_ends_with_a_version_of_kubernetes(self) -> None:
        group = (
            "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\n"
            'metadata: {name: a, region: us-west-2, version: "%s"}\nautoModeConfig: {enabled: false}\n'
            "managedNodeGroups: [{name: c, instanceType: m7i.2xlarge, amiFamily: AmazonLinux2040}]"
        )
        assert "HLT021" in codes(group % "1.35")
        assert "HLT021" not in codes(group % "1.34")
        (found,) = [
            each
            for each in findings_for(with_alias("al2040@v20260601"))
            if each.code in ("HLT021", "HLT041")
        ]
        assert "al2040" in found.message or "Amazon Linux 2040" in found.message

    def test_has_drivers_in_some_of_its_images(self) -> None:
        assert "CUDA" in ami_families.driver_marks("nvidia.com/gpu")

    def test_runs_what_nodes_do_when_they_boot(self) -> None:
        data = spec(platform={"eks": {"ami": "al2040@v20260601"}})
        (node_class,) = plan_of(data).of(NodeClass)
        assert node_class.boot.locked_memory

    def test_mounts_no_file_system_that_is_older_than_its_client(self) -> None:
        family = families()["al2040"]
        assert family.cannot_mount("2.12")
        assert not family.cannot_mount("2.15")
        assert not families()["bottlerocket"].cannot_mount("2.10")
