"""No platform drops a key that it takes: each changes what is written, or what is said of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from drawn import drawn
from trainyard.run.platforms import PLATFORMS

from tests.platforms.small import without_small
from tests.platforms.taken import (
    Effect,
    Passes,
    Writer,
    dropped,
    effect,
    effects,
    keys_of_platform,
    without_digests,
)
from tests.platforms.wide import GIVEN, QUIET, TEXTS, WHERE, wide

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the clusters name."""
    for name, text in TEXTS.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", PLATFORMS)
def test_no_key_that_is_taken_is_dropped(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is dropped is honoured, or refused by `instead` of the platform; a key that is only checked has a reason."""
    assert name not in without_small(), f"tests/platforms/{name.lower()}/clusters.py is missing"
    clusters = _clusters(name, folder, monkeypatch)
    writer = Writer(PLATFORMS[name], GIVEN, WHERE)
    keys = keys_of_platform(PLATFORMS[name])
    plain = [key for key in keys if key.model is None]
    asked = drawn(plain, len(plain) // 12, name)
    if len(asked) == len(plain):
        asked = keys
    done = effects(PLATFORMS[name], clusters, writer, Passes(folder), GIVEN, asked)
    silent = dropped(done)
    quiet = [path for path in QUIET.get(name, {}) if path in done]
    assert {path: seen for path, seen in silent.items() if path not in quiet} == {}
    assert [path for path in quiet if path not in silent] == [], "reasons that nothing needs"


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("spec.jobs[].sharedMemory", "jobs.sharedMemory"),
        ("spec.queues[].stopPolicy", "queues.stopPolicy"),
        ("spec.storage[].fsxLustre.existing.address", "storage.fsxLustre.existing.address"),
    ],
)
def test_a_key_that_a_platform_forgets_to_refuse_is_found(
    path: str, refused: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ParallelCluster does nothing by these, and says so: were it silent, they would be dropped."""
    name = "parallelCluster"
    instead = {key: help for key, help in PLATFORMS[name].instead.items() if key != refused}
    monkeypatch.setitem(PLATFORMS, name, replace(PLATFORMS[name], instead=instead))
    clusters = _clusters(name, folder, monkeypatch)
    probes = Writer(PLATFORMS[name], GIVEN, WHERE).probes(clusters, path)
    assert effect(probes, Passes(folder), given=False) is Effect.NOTHING


def _clusters(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Mapping[str, dict[str, Any]]:
    """The clusters of a platform, while every content has the same digest."""
    clusters = wide(PLATFORMS[name])
    assert Passes(folder).of(clusters["small"]).said  # imports what computes digests
    without_digests(monkeypatch)
    return clusters
