"""``failures`` prints what becomes of each job as text or JSON, the same in every run, and writes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import FSX, ROOT, spec
from running import Command
from trainyard.catalog import load_catalog

pytestmark = pytest.mark.slow


def _written(folder: Path, **parts: object) -> Path:
    (folder / "lab.yaml").write_text(yaml.safe_dump(spec(**parts)))  # type: ignore[arg-type]
    return folder


def test_the_parts_stand_below_their_sum(trainyard: Command) -> None:
    done = trainyard("failures", "specs/llama3-8b.yaml", cwd=ROOT / "tests" / "example")
    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0] == "llama3-8b-fsdp in seoul-llm: 4 nodes of pool a100, 32 GPUs"
    assert "    first new step after   3m54s to 57m14s and more" in lines
    assert (
        "      checkpoint is read   24s            24s at 4,688 MB/s, as fast as the disks of"
        in "\n".join(lines)
    )
    assert any(line.startswith("    best: every 4h40m") for line in lines)
    assert max(map(len, lines)) <= 120
    outcomes = done.out.split("\n\n")
    (lost,) = (each for each in outcomes if each.startswith("  a node is lost"))
    assert "\n    repeats                15m, 30m at most\n    costs  " in lost
    runs_on = [each for each in outcomes if " it runs on" in each]
    assert runs_on != []
    assert not any("\n    repeats" in each or "\n    costs" in each for each in runs_on)


def test_the_text_is_the_same_in_every_run(trainyard: Command) -> None:
    first = trainyard("failures", "specs/jakarta", cwd=ROOT / "tests" / "example")
    assert trainyard("failures", "specs/jakarta", cwd=ROOT / "tests" / "example") == first


def test_one_job(trainyard: Command) -> None:
    done = trainyard(
        "failures", "specs/two-teams.yaml", "--job", "finetune", cwd=ROOT / "tests" / "example"
    )
    assert done.out.startswith("finetune in two-teams: 2 nodes")
    assert "pretrain" not in done.out


def test_json_says_the_same(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("failures", "lab.yaml", "--format", "json", cwd=_written(tmp_path))
    (lab,) = json.loads(done.out)["clusters"]
    (job,) = lab["jobs"]
    assert (job["job"], job["nodes"], job["gpus"], job["retries"]) == ("train", 4, 32, 3)
    lost = job["failures"][0]
    assert (lost["failure"], lost["resumes"]) == ("node", "start")
    assert lost["firstNewStepAfter"]["least"] == sum(part["least"] for part in lost["parts"])
    assert lost["firstNewStepAfter"]["most"] == sum(part["most"] or 0 for part in lost["parts"])
    assert lost["firstNewStepAfter"]["unknown"] == [
        part["name"] for part in lost["parts"] if part["most"] is None
    ]
    assert lost["nodeHours"] is None
    rates = [rate.name for rate in load_catalog().failure_rates.rates]
    assert [each["by"].partition(":")[0] for each in job["week"]["failures"]] == rates
    assert all(0 < each["number"] < 1 for each in job["week"]["failures"])
    harmless = {each["failure"] for each in job["failures"] if each["resumes"] == "runs_on"}
    assert harmless == {"leaves", "upgrade"}
    assert [each.name for each in tmp_path.iterdir()] == ["lab.yaml"]


@pytest.mark.parametrize(
    ("seconds", "notice", "says"),
    [(30, 80, "evicted after 1m20s"), (None, 600, "which its pods tolerate for ever")],
)
def test_pods_that_tolerate_a_silent_node_for_another_time(
    trainyard: Command, tmp_path: Path, seconds: int | None, notice: int, says: str
) -> None:
    """NotReady after 50 seconds, and evicted 30 later; or never, so that the watchdog of NCCL is what ends a hang."""
    toleration = {
        "key": "node.kubernetes.io/unreachable",
        "operator": "Exists",
        "effect": "NoExecute",
        **({} if seconds is None else {"tolerationSeconds": seconds}),
    }
    path = "/spec/template/spec/replicatedJobs/0/template/spec/template/spec/tolerations/-"
    patch = [{"op": "add", "path": path, "value": toleration}]
    patches = [{"target": {"kind": "ClusterTrainingRuntime"}, "patch": patch}]
    folder = _written(tmp_path, patches=patches)
    done = trainyard("failures", "lab.yaml", "--format", "json", cwd=folder)
    lost = json.loads(done.out)["clusters"][0]["jobs"][0]["failures"][0]
    assert lost["parts"][0]["most"] == notice
    assert says in lost["notices"]


SAVING = {
    "model": {"parameters": 7e9, "sharding": "full"},
    "checkpoint": {"path": "/data/run", "every": "30m"},
    "mounts": [{"storage": "data", "path": "/data"}],
}
ON_CPUS = {key: value for key, value in SAVING.items() if key != "model"}
STORAGE = [{"name": "data", "fsxLustre": {"existing": FSX}}]
UNPRICED = {
    "instanceTypes": ["hpc6a.48xlarge"],
    "zones": ["us-east-2b"],
    "nodes": 4,
    "meanTimeBetweenFailures": "1000h",
}


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"job": {"retries": 0}}, "failures               nothing starts it again after the first"),
        (
            {"pool": {"instanceTypes": ["m7i.8xlarge"]}},
            "failures               not known without GPUs: `meanTimeBetweenFailures` of the pool says how many",
        ),
        (
            {"region": "us-east-2", "job": ON_CPUS, "storage": STORAGE, "pool": UNPRICED},
            "% of all; their price is not known",
        ),
    ],
)
def test_what_is_not_known_of_a_week_is_said(
    trainyard: Command, tmp_path: Path, parts: dict[str, Any], says: str
) -> None:
    done = trainyard("failures", "lab.yaml", cwd=_written(tmp_path, **parts))
    assert done.code == 0, done.err
    _, week = done.out.split("a week in which it runs all the time\n")
    assert says in week


def test_json_has_the_node_hours_that_a_week_loses(trainyard: Command, tmp_path: Path) -> None:
    folder = _written(tmp_path, job=SAVING, storage=STORAGE)
    done = trainyard("failures", "lab.yaml", "--format", "json", cwd=folder)
    week = json.loads(done.out)["clusters"][0]["jobs"][0]["week"]
    assert week["every"] == 1800
    least, most = week["nodeHours"]
    assert 0 < least < most


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--job", "trian"], "`--job trian`: there is no such job: did you mean `train`"),
        (["--format", "markdown"], "`markdown` is no format of `failures`: write text or json"),
    ],
)
def test_wrong_usage(trainyard: Command, tmp_path: Path, options: list[str], says: str) -> None:
    done = trainyard("failures", "lab.yaml", *options, cwd=_written(tmp_path))
    assert done.code == 2
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_spec_in_error_is_reported(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("failures", "lab.yaml", cwd=_written(tmp_path, pool={"zones": ["nowhere"]}))
    assert done.code == 1
    assert "error[" in done.err
    assert "Traceback" not in done.err


def test_a_spec_without_jobs_says_so(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("failures", "lab.yaml", cwd=_written(tmp_path, jobs=[]))
    assert (done.code, done.out) == (0, "there is no job\n")


def test_a_file_that_is_not_there(trainyard: Command, tmp_path: Path) -> None:
    done = trainyard("failures", "nowhere.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "error[YML020]" in done.err
    assert "Traceback" not in done.err
