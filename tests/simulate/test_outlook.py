"""What rules ask of the simulation: which jobs wait, and when it need not be asked."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import ROOT
from trainyard.catalog import load_catalog
from trainyard.extensions.forecast.simulate.compiled import cluster
from trainyard.extensions.forecast.simulate.forecasts import outlook
from trainyard.extensions.forecast.simulate.simulator import run
from trainyard.judge.model.contention import contended
from trainyard.judge.model.reading import Reading
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.verify.formats import objects

SPECS = sorted((ROOT / "specs").glob("*.yaml"))
TWO_TEAMS = yaml.safe_load((ROOT / "specs" / "two-teams.yaml").read_text())


def compiled(path: Path) -> Compilation:
    return check([path], Options(hold=False)).compilations[0]


def reading_of(done: Compilation) -> Reading:
    assert done.plan is not None
    return Reading(done.plan, load_catalog(), objects(done.artifacts))


def two_teams(folder: Path, *jobs: dict[str, Any], **parts: Any) -> Compilation:
    """Two teams with other jobs, of the first one's form."""
    data = copy.deepcopy(TWO_TEAMS)
    first = data["spec"]["jobs"][0]
    data["spec"]["jobs"] = [
        {key: value for key, value in {**first, **job}.items() if value is not None} for job in jobs
    ]
    data["spec"] |= parts
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return compiled(path)


def codes(done: Compilation) -> set[tuple[str, str]]:
    return {(fact.code, str(fact.at)) for fact in done.diagnostics if fact.code.startswith("QUE03")}


@pytest.mark.slow
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_without_contention_all_jobs_are_admitted(path: Path) -> None:
    reading = reading_of(compiled(path))
    if not contended(reading):
        assert outlook(reading) == {}


@pytest.mark.parametrize(
    ("level", "divides"), [("hostname", True), ("network-node-layer-1", False)]
)
def test_a_job_that_must_be_on_one_host_may_wait(level: str, divides: bool, tmp_path: Path) -> None:
    """The nodes of one pool are one domain of each wider level, until they run."""
    pools = [dict(TWO_TEAMS["spec"]["nodePools"][0], topology="network")]
    job = {"name": "pretrain", "nodes": 1, "topology": {"required": level}}
    reading = reading_of(two_teams(tmp_path, job, nodePools=pools))
    assert len(reading.works[0].pools) == 1
    assert contended(reading) is divides


@pytest.mark.parametrize("pretrain", [1, 4, 8, 9])
@pytest.mark.parametrize("finetune", [1, 4, 5, 12])
def test_the_bound_is_on_the_safe_side(pretrain: int, finetune: int, tmp_path: Path) -> None:
    done = two_teams(
        tmp_path,
        {"name": "pretrain", "nodes": pretrain},
        {"name": "finetune", "queue": "team-b", "nodes": finetune},
    )
    reading = reading_of(done)
    subject = cluster("c", reading)
    together = run(subject.world, subject.jobs)
    waiting = {key for key, work in together.works.items() if work.admission is None}
    assert outlook(reading).keys() == waiting
    assert contended(reading) or not waiting
    assert contended(reading) is (pretrain > 8 or finetune > 4)


URGENT = {"priorities": [{"name": "urgent", "value": 1000}]}


def test_a_job_behind_one_of_higher_priority_without_an_end_starves(tmp_path: Path) -> None:
    first = {"name": "pretrain", "nodes": 12, "priority": "urgent", "timeout": None}
    second = {"name": "small", "nodes": 1, "priority": None}
    done = two_teams(tmp_path, first, second, **URGENT)
    assert ("QUE034", "spec.jobs[1].priority") in codes(done)
    [found] = [fact for fact in done.diagnostics if fact.code == "QUE034"]
    assert "pretrain" in found.message
    assert found.severity.name == "WARNING"


@pytest.mark.parametrize(
    "first",
    [
        {"name": "pretrain", "nodes": 12, "priority": "urgent"},  # it ends
        {"name": "pretrain", "nodes": 12, "timeout": None},  # of the same priority
        {"name": "pretrain", "nodes": 11, "priority": "urgent", "timeout": None},  # room is left
    ],
)
def test_nothing_is_said_of_a_job_whose_turn_comes(first: dict[str, Any], tmp_path: Path) -> None:
    done = two_teams(tmp_path, first, {"name": "small", "nodes": 1}, **URGENT)
    assert codes(done) == set()
