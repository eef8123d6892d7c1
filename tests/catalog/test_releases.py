"""Release sets and Xid lists."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import OLD_TRAINER, ROOT, SPECS, plan_of, spec
from trainyard.catalog import Release, load_catalog, version_key
from trainyard.catalog.catalog import DATA
from trainyard.catalog.release import read_release
from trainyard.run.driver import check
from trainyard.run.outcome import Options

CATALOG = load_catalog()
RELEASES = list(CATALOG.releases.values())
RELEASE = CATALOG.newest_release
BUILD = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+\Z")


def test_the_newest_release_is_what_a_spec_gets() -> None:
    assert CATALOG.release(RELEASE.name) is RELEASE
    assert CATALOG.release(f"{RELEASE.name}.1") is None
    assert RELEASE.date == max(release.date for release in RELEASES)
    assert plan_of(spec()).release == RELEASE.name


def test_there_is_a_release_to_upgrade_from() -> None:
    assert len(RELEASES) > 1


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_a_release_is_whole(release: Release) -> None:
    for name, component in release.components.items():
        assert component.name == name
        assert component.source, name
        assert date.fromisoformat(component.checked) >= date.fromisoformat("2026-01-01")
        if component.version is not None and name != "ami":
            assert component.supports(component.version), name
        if component.version_of is not None:
            assert release.version(component.version_of)
        if component.chart is not None:
            start = {"oci": "oci://", "http": "https://"}[component.chart.kind]
            assert component.chart.repository.startswith(start), name
            assert component.version or component.version_of, name
        if component.build is not None:
            assert BUILD.match(component.build), name
        if component.image is not None:
            assert "/" in component.image
            assert ":" in component.image.rpartition("/")[2]
            assert not component.image.endswith(":latest")
    tested = release.minors[release.version("kubernetes")]
    assert tested.support_ends["standard"] > release.date
    for pair in release.pairs:
        assert release.supports(pair.component, pair.version)
        assert release.supports(pair.needed_by, f"{pair.minor}.0")
        assert pair.met(release.chosen({}))


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
@pytest.mark.parametrize("name", SPECS)
def test_every_example_compiles_clean_for_every_release(
    name: str, release: Release, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    for path in (tmp_path / "specs").rglob("*.yaml"):
        text = path.read_text()
        if "kind: TrainingCluster" in text:
            head = f'\nspec:\n  release: "{release.name}"\n'
            path.write_text(text.replace("\nspec:\n", head, 1))
    (source,) = (path for path in (tmp_path / "specs").iterdir() if path.stem == name)
    done = check([source], Options())
    assert [found.message for found in done.all()] == []
    (compiled,) = done.compilations
    assert compiled.plan is not None
    assert compiled.plan.release == release.name


def test_a_release_lies_over_its_base(tmp_path: Path) -> None:
    base = {
        "version": "1.0.0",
        "source": "a",
        "checked": "2026-01-01",
        "supported": ["1.0"],
        "features": {"old": "1.0"},
        "upgrades": [UPGRADE],
    }
    newer = {**UPGRADE, "summary": "newer"}
    over = {
        "version": "1.1.0",
        "supported": ["1.1"],
        "features": {"new": "1.1"},
        "upgrades": [newer],
    }
    whole = {"release": {"date": "2026-01-01"}, "one": base, "two": base}
    write(tmp_path / "1", **whole, kubernetes={**base, "version": "1.8"}, ami=base)
    minor = {
        "source": "a",
        "checked": "2026-01-01",
        "addons": {"two": {"build": "v1", "source": "b"}},
    }
    (tmp_path / "1" / "kubernetes").mkdir()
    for version in ("1.8", "1.9"):
        (tmp_path / "1" / "kubernetes" / f"{version}.json").write_text(json.dumps(minor))
    write(tmp_path / "2", release={"date": "2026-02-01", "base": "1"}, one=over)
    release = read_release(tmp_path, "2")
    assert release.date == "2026-02-01"
    one, two = release.components["one"], release.components["two"]
    assert (one.version, two.version) == ("1.1.0", "1.0.0")
    assert (one.source, one.supported) == ("a", ("1.1",))
    assert one.features == {"old": "1.0", "new": "1.1"}
    assert [upgrade.summary for upgrade in one.upgrades] == ["", "newer"]
    assert [upgrade.summary for upgrade in two.upgrades] == [""]
    assert release.components["kubernetes"].supported == ("1.8", "1.9")
    assert two.builds == {"1.8": "v1", "1.9": "v1"}


UPGRADE = {"from": "", "to": ">=1.1", "verdict": "safe", "summary": "", "sources": []}


def write(folder: Path, **files: Any) -> None:
    folder.mkdir()
    for name, facts in files.items():
        (folder / f"{name}.json").write_text(json.dumps(facts))


@pytest.mark.parametrize(
    "path",
    sorted((DATA / "releases").rglob("*.json")),
    ids=lambda path: path.relative_to(DATA).as_posix(),
)
def test_a_release_says_only_what_changed(path: Path) -> None:
    """A fact that stands in the base as well would be overlooked when the base is corrected."""
    release = DATA / "releases" / path.relative_to(DATA / "releases").parts[0]
    base = json.loads((release / "release.json").read_text()).get("base")
    below = release.parent / str(base) / path.relative_to(release)
    if base is None or path.name == "release.json" or not below.is_file():
        return
    before, own = json.loads(below.read_text()), json.loads(path.read_text())
    repeated = set(_leaves(before)) & set(_leaves(own))
    assert {where for where, _ in repeated} <= {"checked"}


def _leaves(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{where}.{key}".lstrip("."))
    elif where != "upgrades":
        yield where, json.dumps(value)


def test_supports_takes_patches_of_a_listed_minor() -> None:
    trainer = RELEASE.components["trainer"]
    first, last = trainer.supported[0], trainer.supported[-1]
    assert trainer.supports(f"{first}.0")
    assert trainer.supports(f"v{last}.1")
    assert not trainer.supports(f"{last}0.0")
    assert not trainer.supports("2.0.1")
    assert not RELEASE.supports("nothing", "1.0")


def test_features_are_by_version() -> None:
    assert RELEASE.has("trainer.runtimePatches")
    assert not RELEASE.has("trainer.runtimePatches", OLD_TRAINER)
    assert RELEASE.has("karpenter.placementGroupSelector", "1.11.0")
    assert not RELEASE.has("karpenter.placementGroupSelector", "1.9.9")
    assert not RELEASE.has("karpenter.noSuchThing")
    assert not RELEASE.has("nothing.at.all")


def test_the_newest_release_has_every_feature() -> None:
    features = [
        f"{component.name}.{feature}"
        for component in RELEASE.components.values()
        for feature in component.features
    ]
    assert features
    assert [feature for feature in features if not RELEASE.has(feature)] == []


def test_version_key_orders_versions() -> None:
    versions = ["1.9", "v1.10.0", "1.10.1-rc.1", "v0.5.30", "2026.11"]
    assert sorted(versions, key=version_key) == [
        "v0.5.30",
        "1.9",
        "v1.10.0",
        "1.10.1-rc.1",
        "2026.11",
    ]
    assert version_key("al2023@v20260625") < version_key("al2023@v20260714")


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
