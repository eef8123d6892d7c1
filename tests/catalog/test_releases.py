"""Release sets and Xid lists."""

from __future__ import annotations

import re

import pytest

from compiler.catalog import load_catalog, version_key

CATALOG = load_catalog()
RELEASES = list(CATALOG.releases.values())
RELEASE = CATALOG.newest_release
BUILD = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+\Z")


def test_the_release_of_the_design() -> None:
    assert CATALOG.release("2026.11") is RELEASE
    assert CATALOG.release("2026.10") is None
    assert (
        RELEASE.kubernetes,
        RELEASE.versions["trainer"],
        RELEASE.versions["ami"],
    ) == ("1.35", "2.3.0", "al2023@v20260714")


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_a_release_is_whole(release: object) -> None:
    assert isinstance(release, type(RELEASE))
    assert release.supports("kubernetes", release.kubernetes)
    for component, version in release.versions.items():
        assert component == "ami" or release.supports(component, version), component
        assert component in release.sources, component
    for component, chart in release.charts.items():
        assert chart.version == release.versions.get(
            component, release.versions["karpenter"]
        ), component
        assert chart.repository.startswith(
            {"oci": "oci://", "http": "https://"}[chart.kind]
        ), component
    for addon, build in release.addons.items():
        assert BUILD.match(build) if build else addon in release.notes, addon
    for image in release.images.values():
        assert "/" in image
        assert ":" in image.rpartition("/")[2]
        assert not image.endswith(":latest")
    assert release.support_ends["standard"] > release.date
    for pair in release.pairs:
        assert release.supports(pair.component, pair.version)
        assert release.supports(pair.needed_by, f"{pair.minor}.0")
        assert pair.met(release.chosen({}))


def test_supports_takes_patches_of_a_listed_minor() -> None:
    assert RELEASE.supports("trainer", "2.1.0")
    assert RELEASE.supports("trainer", "v2.2.1")
    assert not RELEASE.supports("trainer", "2.0.1")
    assert not RELEASE.supports("trainer", "2.10.0")
    assert not RELEASE.supports("nothing", "1.0")


def test_features_are_by_version() -> None:
    assert RELEASE.has("trainer.runtimePatches")
    assert not RELEASE.has("trainer.runtimePatches", "2.1.0")
    assert RELEASE.has("karpenter.placementGroupSelector", "1.11.0")
    assert not RELEASE.has("karpenter.placementGroupSelector", "1.9.9")
    assert not RELEASE.has("karpenter.noSuchThing")


def test_the_newest_release_has_every_feature() -> None:
    assert [feature for feature in RELEASE.features if not RELEASE.has(feature)] == []


def test_version_key_orders_versions() -> None:
    versions = ["1.9", "v1.10.0", "1.10.1-rc.1", "v0.5.30", "2026.11"]
    assert sorted(versions, key=version_key) == [
        "v0.5.30",
        "1.9",
        "v1.10.0",
        "1.10.1-rc.1",
        "2026.11",
    ]


def test_fatal_xids_leave_out_what_programs_cause() -> None:
    xids = CATALOG.xids
    assert xids.application == (13, 31, 43, 45, 68, 109)
    for source in xids.lists:
        assert not set(xids.fatal(source)) & set(xids.application)
    assert {48, 74, 79} <= set(xids.fatal())
    assert 109 in xids.lists["node-monitoring-agent"].codes  # as published
    assert 63 not in xids.fatal("nvidia")  # NVIDIA itself: IGNORE


def test_xid_actions() -> None:
    assert CATALOG.xids.action(79) == "RESTART_BM"
    assert CATALOG.xids.action(74, "eks-user-guide") == "REPLACE"
    assert CATALOG.xids.action(1) is None


def test_nvidias_buckets_cover_the_agents_list() -> None:
    lists = CATALOG.xids.lists
    assert lists["nvidia"].codes == lists["node-monitoring-agent"].codes
