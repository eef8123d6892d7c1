"""The outcomes of the failures of a small spec's jobs, from the spec to what a platform says of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from builders import FSX, document, spec, summaries
from trainyard.catalog import load_catalog
from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.footings import footings
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome
from trainyard.extensions.forecast.failures.week import Week, week
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.judge.model.reading import Reading
from trainyard.language.diagnostics import Severity
from trainyard.run.language.load import load, platform_of
from trainyard.run.resolve import resolve

FAST: dict[str, Any] = {**FSX, "version": "2.15", "size": "38400Gi", "throughputPerTiB": 125}
"""Reads and writes 4,687.5 MB/s."""
STORAGE = [{"name": "data", "fsxLustre": {"existing": FAST}}]
SAVING: dict[str, Any] = {
    "model": {"parameters": 70e9, "sharding": "full"},
    "mounts": [{"storage": "data", "path": "/data"}],
    "checkpoint": {"path": "/data/run", "every": "30m"},
}
"""A job with checkpoints of 980 GB: 210 seconds to write and to read, and 510 to save and end."""
READ = 980e9 / (38400 / 1024 * 125 * 1e6)


def saving(job: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """A spec whose job has checkpoints. ``job``: other keys of it."""
    pool = {"nodes": {"max": 12}, **parts.pop("pool", {})}
    return spec(
        storage=deepcopy(STORAGE), pool=pool, job={**deepcopy(SAVING), **(job or {})}, **parts
    )


def read(data: dict[str, Any]) -> tuple[Reading, PlannedCluster]:
    """A spec without errors, on the platform that it names."""
    parsed, catalog = document(data), load_catalog()
    platform = platform_of(parsed)
    model, faults = load(parsed, platform)
    assert model is not None, summaries(faults)
    plan, found = resolve(model, catalog, platform=platform)
    assert plan is not None, summaries(found)
    assert not [each for each in found if each.severity is Severity.ERROR], summaries(found)
    reading = Reading(plan, catalog)
    return reading, PlannedCluster(model.spec, plan, catalog, reading.pools)


def walk(data: dict[str, Any]) -> list[tuple[Footing, list[Outcome]]]:
    """Every job of a spec with its outcomes."""
    return _walked(data, *read(data))


def _walked(
    data: dict[str, Any], reading: Reading, planned: PlannedCluster
) -> list[tuple[Footing, list[Outcome]]]:
    outcomes = platform_of(document(data)).answering("forecast", "failures").outcomes
    return [(job, list(outcomes(planned, job))) for job in footings(reading, planned)]


def outcomes(data: dict[str, Any]) -> dict[Failure, Outcome]:
    """The outcomes of the first job by failure; of several upgrades the last."""
    return {outcome.failure: outcome for outcome in walk(data)[0][1]}


def week_of(data: dict[str, Any]) -> Week | None:
    """The week of the first job."""
    reading, planned = read(data)
    (job, known), *_ = _walked(data, reading, planned)
    return week(planned, job, known)
