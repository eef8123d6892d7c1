"""Steps between versions: which entries they go through, and what comes of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from trainyard.catalog import BLOCKED, MANUAL, SAFE, UNKNOWN, VersionStep, load_catalog
from trainyard.catalog.release import Component
from trainyard.catalog.upgrades import VERDICTS, Upgrade
from trainyard.catalog.versions import in_range

RELEASES = list(load_catalog().releases.values())
RELEASE = load_catalog().newest_release
ENTRIES = [
    (component.name, upgrade)
    for component in RELEASE.components.values()
    for upgrade in component.upgrades
]


def entry(before: str, after: str, verdict: str, **more: Any) -> Upgrade:
    facts = {"from": before, "to": after, "verdict": verdict}
    return Upgrade.of({**facts, "summary": verdict, "sources": ["a"], **more})


CROSSINGS = (
    entry("<1.2", ">=1.2", SAFE, restarts="pods"),
    entry("<1.3", ">=1.3", MANUAL, steps=["look"], restarts="nodes"),
    entry("<1.4", ">=1.4", MANUAL, no_runs=True),
    entry(">=1.3", "<1.3", BLOCKED),
)


def step(before: str, after: str, *, runs: bool = False) -> VersionStep:
    entries = tuple(each for each in CROSSINGS if each.covers(before, after))
    return VersionStep("thing", before, after, entries, "it", runs)


@pytest.mark.parametrize(
    ("version", "bounds", "inside"),
    [
        ("1.2.9", "<1.3", True),
        ("1.3.0", "<1.3", False),
        ("1.3.0", ">=1.3", True),
        ("v1.10.0", ">=1.9 <1.11", True),
        ("1.11.0", ">=1.9 <1.11", False),
        ("1.35", ">=1.35 <1.36", True),
        ("al2023@v20260714", ">=20260625", True),
        ("v1.23.0-eksbuild.1", "", True),
    ],
)
def test_a_version_lies_in_a_range(version: str, bounds: str, inside: bool) -> None:
    assert in_range(version, bounds) is inside


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("1.1.0", "1.2.0", SAFE),
        ("1.1.0", "1.3.5", MANUAL),
        ("1.2.0", "1.2.7", SAFE),  # a patch that no entry is about
        ("1.2.7", "1.2.0", UNKNOWN),
        ("1.5.0", "1.6.0", UNKNOWN),
        ("1.3.1", "1.2.0", BLOCKED),
    ],
)
def test_the_worst_of_what_a_step_crosses_is_its_verdict(
    before: str, after: str, verdict: str
) -> None:
    assert step(before, after).verdict == verdict


def test_a_step_that_runs_would_not_survive_is_blocked_while_there_are_any() -> None:
    assert step("1.3.0", "1.4.0").verdict == MANUAL
    blocked = step("1.2.0", "1.4.0", runs=True)
    assert blocked.verdict == BLOCKED
    assert [each.no_runs for each in blocked.asking()] == [True]


def test_a_step_restarts_what_each_entry_and_every_version_restart() -> None:
    assert step("1.1.0", "1.3.0").restarted == ("it", "pods", "nodes")
    assert not step("1.1.0", "1.3.0").back
    assert step("1.3.0", "1.1.0").back


@pytest.mark.parametrize(
    ("name", "upgrade"), ENTRIES, ids=lambda value: getattr(value, "summary", value)
)
def test_an_entry_is_whole(name: str, upgrade: Upgrade) -> None:
    assert upgrade.verdict in set(VERDICTS) - {UNKNOWN}
    assert upgrade.summary
    assert upgrade.sources
    assert all(upgrade.sources)
    if upgrade.verdict == MANUAL:
        assert upgrade.steps, name
    for text in (upgrade.summary, upgrade.precondition, *upgrade.steps):
        assert not text.endswith("."), name
    in_range("1.0", upgrade.before)
    in_range("1.0", upgrade.after)


def test_what_upstream_documents_is_filled_in() -> None:
    assert {name for name, _ in ENTRIES} >= {
        "ami",
        "eksctl",
        "flux",
        "jobset",
        "karpenter",
        "kubernetes",
        "kueue",
        "nvidia-device-plugin",
        "trainer",
    }


@pytest.mark.parametrize(
    "component",
    [each for each in RELEASE.components.values() if each.version or each.build],
    ids=lambda component: component.name,
)
def test_every_component_says_what_its_new_version_restarts(component: Component) -> None:
    unused = ("aws-ebs-csi-driver", "snapshot-controller")  # nothing installs them
    assert component.restarts or component.name in unused


def test_every_step_between_releases_is_known() -> None:
    """A release says of everything that it changes what the change asks for."""
    changes = 0
    for older, newer in pairwise(RELEASES):
        for name, component in newer.components.items():
            earlier = older.components.get(name)
            if earlier is None or earlier.version is None or component.version is None:
                continue
            if earlier.version != component.version:
                changes += 1
                taken = newer.step(name, earlier.version, component.version, runs=False)
                assert taken.upgrades, name
                assert taken.verdict in (SAFE, MANUAL), name
    assert changes > 3


def test_every_supported_minor_can_be_upgraded_to_the_release() -> None:
    for component in RELEASE.components.values():
        for minor in component.supported:
            version = component.version or ""
            if component.name == "kubernetes":
                continue  # one minor at a time
            if in_range(version, f">={minor.removeprefix('v')}") and not (
                version.removeprefix("v").startswith(minor)
            ):
                taken = RELEASE.step(component.name, f"{minor}.0", version, runs=False)
                assert taken.verdict in (SAFE, MANUAL), component.name


@pytest.mark.parametrize("minor", RELEASE.components["kubernetes"].supported)
def test_kubernetes_goes_one_minor_at_a_time(minor: str) -> None:
    major, _, number = minor.partition(".")

    def step(before: int, after: int) -> VersionStep:
        one, other = f"{major}.{before}", f"{major}.{after}"
        return RELEASE.step("kubernetes", one, other, runs=False)

    here = int(number)
    up = step(here - 1, here)
    assert up.verdict == MANUAL
    (asking,) = up.asking()
    assert asking.steps[: len(RELEASE.minors[minor].asks)] == RELEASE.minors[minor].asks
    assert f"every node runs {major}.{here - 1}" in asking.precondition
    assert step(here - 2, here).verdict == BLOCKED
    assert step(here - 3, here).verdict == BLOCKED
    assert step(here, here - 1).verdict == MANUAL
    assert step(here, here - 2).verdict == BLOCKED
