"""``simulate`` prints verdicts as text or JSON, the same in every run, and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from builders import ROOT, spec
from running import Command
from trainyard.extensions.forecast.timeline.shown import span

pytestmark = pytest.mark.slow


def _written(folder: Path, **parts: object) -> Path:
    (folder / "lab.yaml").write_text(yaml.safe_dump(spec(**parts)))
    return folder


def test_a_job_that_fits_says_where(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("simulate", "lab.yaml", cwd=_written(tmp_path))
    assert done.code == 0
    assert done.err == ""
    assert done.out.splitlines() == [
        "lab: 1 job at once, all are admitted",
        "  train  FITS  4 nodes of gpu in us-west-2b",
    ]
    assert [each.name for each in tmp_path.iterdir()] == ["lab.yaml"]


def test_the_text_is_the_same_in_every_run(trainyard: Command) -> None:
    first = trainyard("simulate", "specs/jakarta", "--nodes", "h200=73", cwd=ROOT)
    assert first.code == 0
    assert "as Flux creates them not: `timor`" in first.out
    assert trainyard("simulate", "specs/jakarta", "--nodes", "h200=73", cwd=ROOT) == first


def test_a_job_that_never_fits_fails_the_run(trainyard: Command) -> None:
    done = trainyard("simulate", "specs/jakarta", "--nodes", "h200=9", cwd=ROOT)
    assert done.code == 1
    assert "timor    NEVER FITS" in done.out
    assert "helps: 5 more nodes in pool `h200`, or `nodes: 9` for `timor`" in done.out


@pytest.mark.parametrize("nodes", [0, 1])
def test_quota_without_nodes_is_a_condition(trainyard: Command, tmp_path: Path, nodes: int) -> None:
    """Kueue counts quota alone, and pods of a pool without nodes wait."""
    done = trainyard("simulate", "lab.yaml", "--nodes", f"gpu={nodes}", cwd=_written(tmp_path))
    short = f"`gpu` has room for {4 - nodes} more pods: quota is there, nodes for {nodes} pod"
    assert f"train  FITS ONLY IF {short}" in done.out


def test_jobs_that_fit_in_one_order_need_nodes_too(trainyard: Command, tmp_path: Path) -> None:
    image, command = "registry.test/train:1.0", ["python", "train.py"]
    jobs = [{"name": n, "nodes": 3, "image": image, "command": command} for n in ("a", "b")]
    folder = _written(tmp_path, jobs=jobs)
    done = trainyard("simulate", "lab.yaml", "--nodes", "gpu=2", cwd=folder)
    condition = "is admitted before `b`; `gpu` has room for 1 more pod"
    assert condition in done.out


@pytest.mark.parametrize("length", ["10h", None])
def test_a_job_waits_until_another_one_ends(
    trainyard: Command, tmp_path: Path, length: str | None
) -> None:
    image, command = "registry.test/train:1.0", ["python", "train.py"]
    first = {"name": "first", "nodes": 4, "priority": "high"} | (
        {"expected": length} if length else {}
    )
    jobs = [
        {**job, "image": image, "command": command}
        for job in (first, {"name": "second", "nodes": 1, "priority": "low"})
    ]
    folder = _written(
        tmp_path,
        priorities=[{"name": "high", "value": 100}, {"name": "low", "value": 1}],
        jobs=jobs,
    )
    done = trainyard("simulate", "lab.yaml", cwd=folder)
    waits = "second  WAITS FOR `first`"
    assert f"{waits} until 10h\n" in done.out if length else f"{waits}\n" in done.out
    assert ("counted from when all are submitted" in done.out) is (length is not None)


def test_it_waits_until_kueue_gives_another_job_up(trainyard: Command, tmp_path: Path) -> None:
    """The first job has quota and too few nodes, so Kueue deactivates it in the end: as `--timeline` has it."""
    image, command = "registry.test/train:1.0", ["python", "train.py"]
    jobs = [
        {"name": "first", "nodes": 4, "priority": "high", "image": image, "command": command},
        {"name": "second", "nodes": 1, "priority": "low", "image": image, "command": command},
    ]
    priorities = [{"name": "high", "value": 100}, {"name": "low", "value": 1}]
    jobs[0]["expected"] = "10h"
    folder = _written(tmp_path, priorities=priorities, jobs=jobs)
    options = ("lab.yaml", "--nodes", "gpu=2", "--format", "json")
    course = json.loads(trainyard("simulate", "--timeline", *options, cwd=folder).out)
    (start,) = [each["start"] for each in course["clusters"][0]["jobs"] if each["name"] == "second"]
    found = json.loads(trainyard("simulate", *options, cwd=folder).out)
    (until,) = [each["until"] for each in found["clusters"][0]["jobs"] if each["name"] == "second"]
    assert start
    assert until == span(start)


def test_a_job_that_is_included_is_not_passed_over(trainyard: Command, tmp_path: Path) -> None:
    """It shares the queue, and what it asks for is not counted."""
    names = {"kueue.x-k8s.io/queue-name": "gpu"}
    container = {"name": "a", "image": "registry.test/train:1.0", "command": ["python"]}
    for name, labels in (("extra", names), ("other", {})):
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": "training", "labels": labels},
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
        }
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(job))
    folder = _written(tmp_path, include=["extra.yaml", "other.yaml"])
    for options in ((), ("--timeline",)):
        done = trainyard("simulate", "lab.yaml", *options, cwd=folder)
        line = "extra  NOT SIMULATED: " if not options else "extra  not simulated: "
        assert f"{line}the spec includes it, and only its own jobs are simulated\n" in done.out
        assert "other" not in done.out


def test_json_says_the_same(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("simulate", "lab.yaml", "--format", "json", cwd=_written(tmp_path))
    (lab,) = json.loads(done.out)["clusters"]
    (train,) = lab["jobs"]
    assert train["verdict"] == "FITS"
    assert train["where"] == [
        {"pool": "gpu", "zone": "us-west-2b", "domain": "", "pods": 4, "nodes": 4}
    ]


@pytest.mark.parametrize("options", [(), ("--timeline",)])
def test_a_spec_in_error_is_reported(
    trainyard: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    folder = _written(tmp_path, pool={"zones": ["nowhere"]})
    done = trainyard("simulate", "lab.yaml", *options, cwd=folder)
    assert (done.code, done.out) == (1, "")
    assert "error[SPC005]" in done.err
    assert "Traceback" not in done.err


def test_another_format_is_wrong_usage(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("simulate", "lab.yaml", "--format", "sarif", cwd=_written(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert "write text or json" in done.err


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("gpu", "write POOL=N"),
        ("gpu=many", "write POOL=N"),
        ("=3", "write POOL=N"),
        ("gpus=3", "did you mean `gpu`?"),
        ("system=3", "no cluster has such a pool of a queue"),
    ],
)
def test_wrong_nodes_are_reported_in_one_line(
    trainyard: Command, tmp_path: Path, given: str, reported: str
) -> None:
    done = trainyard("simulate", "lab.yaml", "--nodes", given, cwd=_written(tmp_path))
    assert done.code == 2
    assert done.out == ""
    assert reported in done.err
    assert done.err.count("\n") == 1
