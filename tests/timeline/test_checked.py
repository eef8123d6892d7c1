"""What `check` and `simulate --timeline` say of specs with Capacity Blocks, and that others do not pay for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import job_of, resolved, spec
from running import Command
from trainyard.catalog import load_catalog
from trainyard.core.jobs.length import Basis
from trainyard.judge.model.lengths import lengths
from trainyard.judge.model.reading import Reading

BLOCK = {
    "block": {
        "reservations": [{"id": "cr-0a1b2c3d4e5f60718"}],
        "starts": "2026-12-01T11:30:00Z",
        "ends": "2026-12-03T11:30:00Z",
    }
}


def job(name: str, nodes: int, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "nodes": nodes,
        "image": "registry.test/train:1.0",
        "command": ["torchrun", "t.py"],
        **more,
    }


def basis_of(**more: Any) -> tuple[Basis, int | None]:
    plan, _ = resolved(spec(job=more))
    assert plan is not None
    (length,) = lengths(Reading(plan, load_catalog())).values()
    return length.basis, length.seconds


def test_a_length_is_what_is_expected_or_else_the_timeout() -> None:
    assert basis_of(expected="20h", timeout="72h") == (Basis.EXPECTED, 20 * 3600)
    assert basis_of(timeout="72h") == (Basis.TIMEOUT, 72 * 3600)
    assert basis_of() == (Basis.UNKNOWN, None)


@pytest.mark.needs("forecast")
def test_without_an_expected_length_the_time_of_all_tokens_is_taken() -> None:
    model = {
        "shape": {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 14336, "vocabulary": 128256},
        "sharding": "full",
        "batch": {"microBatchSize": 1, "sequenceLength": 4096, "tokens": 1e9},
    }
    basis, seconds = basis_of(model=model, timeout="2000h")
    assert basis is Basis.ESTIMATE
    assert seconds is not None
    assert 0 < seconds < 2000 * 3600
    assert basis_of(model=model, timeout="1m") == (Basis.ESTIMATE, 60)


def test_the_job_that_is_written_does_not_depend_on_its_expected_length() -> None:
    assert job_of(spec(job={"expected": "20h"})) == job_of(spec())


@pytest.mark.slow
def test_a_timeline_is_printed_as_text_and_as_json(trainyard: Command, tmp_path: Path) -> None:
    jobs = [job("first", 3, expected="20h"), job("second", 2, expected="5h")]
    data = spec(pool={"instanceTypes": ["p5.48xlarge"], "capacity": BLOCK, "nodes": 4}, jobs=jobs)
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(data))
    done = trainyard("simulate", "lab.yaml", "--timeline", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    first = done.out.splitlines()[0]
    assert first == "lab: 2 jobs, the last known end is after 1d1h; 0s is 2026-12-01T11:30:00Z"
    assert "starts at 20h, after `first`" in done.out
    assert "idle in gpu: 30.0 of 100.0 node hours" in done.out
    assert done == trainyard("simulate", "lab.yaml", "--timeline", cwd=tmp_path)
    later = trainyard(
        "simulate", "lab.yaml", "--timeline", "--start", "2026-12-02T11:30:00Z", "--format", "json",
        cwd=tmp_path,
    )  # fmt: skip
    (cluster,) = json.loads(later.out)["clusters"]
    assert cluster["begins"] == "2026-12-02T11:30:00Z"
    (_, second) = cluster["jobs"]
    assert second["attempts"][0]["ending"] == "block ends"
    # From 20h until 40 minutes before the end.
    assert second["attempts"][0]["end"] == 24 * 3600 - 40 * 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "reported"),
    [
        (("--start", "2026-12-02T11:30:00Z"), "`--start` is for `--timeline`"),
        (("--timeline", "--start", "tomorrow"), "write a time with its zone"),
        (("--timeline", "--start", "2026-12-02T11:30:00"), "has no time zone"),
        (("--timeline", "--nodes", "gpus=3"), "did you mean `gpu`?"),
    ],
)
def test_wrong_options_are_reported_in_one_line(
    trainyard: Command, tmp_path: Path, given: tuple[str, ...], reported: str
) -> None:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec()))
    done = trainyard("simulate", "lab.yaml", *given, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert reported in done.err
    assert done.err.count("\n") == 1
