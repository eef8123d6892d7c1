"""Jobs that were submitted: never changed, never run twice, and never by accident."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from builders import job_of, spec
from running import Command, snapshot
from trainyard.core.jobs import settled
from trainyard.core.pods.plan import EnvVar
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.run.history.changes import _distance

from history.folder import runs, train_jobs, write

pytestmark = pytest.mark.slow

HELD = "`train` stays as it was submitted: nothing in the spec asks for another run"


@pytest.fixture
def folder(tmp_path: Path, trainyard: Command) -> Path:
    """A folder with a spec of one job that was compiled, and so submitted."""
    write(tmp_path, spec())
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    return tmp_path


def other_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Trainyard that derives one more variable, and less shared memory (which the runtime holds)."""
    derived = settled.environment
    monkeypatch.setattr(
        settled, "environment", lambda *given: (*derived(*given), EnvVar("NCCL_NEW", "1"))
    )
    monkeypatch.setattr(settled, "shared_memory", lambda *_: Quantity.parse("1Gi"))


def test_another_release_leaves_submitted_jobs_alone(
    folder: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job and its runtime stay word for word; the run says so, and a second one changes nothing."""
    before = train_jobs(folder)
    other_release(monkeypatch)
    done = trainyard("compile", "spec.yaml", cwd=folder)
    assert done.code == 0
    assert f"note[RES036]: {HELD}\n" in done.out
    assert "= help: to run one again with them, write `rerun: 1`" in done.out
    assert train_jobs(folder) == before
    report = trainyard("report", "spec.yaml", cwd=folder).out
    (name,) = re.findall(r"trainjob-(train-\w+)\.yaml", " ".join(before))
    assert (
        "| job/train | name | ‹run› | submitted before, and no other run is asked for |" in report
    )
    assert f"| training/{name} |" in report
    after = snapshot(folder)
    assert trainyard("compile", "--check", "spec.yaml", cwd=folder).code == 0
    assert trainyard("compile", "spec.yaml", cwd=folder).code == 0
    assert snapshot(folder) == after


def test_of_many_jobs_that_stay_the_first_are_named(
    tmp_path: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {"nodes": 1, "image": "registry.test/train:1.0", "command": ["torchrun", "t.py"]}
    write(tmp_path, spec(jobs=[{"name": name, **words} for name in "abcde"]))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    other_release(monkeypatch)
    done = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert "note[RES036]: `a`, `b`, `c` and 2 more stay as they were submitted: " in done.out


def test_rerun_takes_what_is_derived_today(
    folder: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = train_jobs(folder)
    other_release(monkeypatch)
    write(folder, spec(job={"rerun": 1}))
    done = trainyard("compile", "spec.yaml", cwd=folder)
    assert done.code == 0
    after = train_jobs(folder)
    kept = {path for path in before if path in after}
    assert {path.split("/")[1] for path in kept} == {"runtimes"}  # the run before goes on with it
    assert all(after[path] == before[path] for path in kept)
    assert b"NCCL_NEW" in b"".join(train_jobs(folder).values())


def test_a_new_job_beside_one_that_stays(
    folder: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = train_jobs(folder)
    other_release(monkeypatch)
    data = spec()
    data["spec"]["jobs"].append({**data["spec"]["jobs"][0], "name": "second"})
    write(folder, data)
    assert trainyard("compile", "spec.yaml", cwd=folder).code == 0
    after = train_jobs(folder)
    assert before.items() <= after.items()
    assert len(after) == 4  # each with a runtime of its own


@pytest.mark.parametrize(
    "change",
    [
        {"job": {"image": "registry.test/train:2.0"}},
        {"job": {"nodes": 2}},
        {"job": {"env": {"SEED": "2"}}},
        {"pool": {"instanceTypes": ["p5.48xlarge"]}},
    ],
    ids=str,
)
def test_a_change_of_the_spec_must_be_asked_for(
    change: dict[str, Any], folder: Path, trainyard: Command
) -> None:
    before = snapshot(folder / "generated")
    write(folder, spec(**change))
    done = trainyard("compile", "spec.yaml", cwd=folder)
    assert done.code == 1
    assert "error[RES030]: job `train` was submitted as `train-" in done.out
    assert " → `" in done.out, "which field has changed"
    assert (
        "CHG003" not in done.out
    )  # whether the first goes on beside another is just what is in question
    assert snapshot(folder / "generated") == before
    ended = (
        {"completedRuns": list(runs(folder))} if "pool" in change else {}
    )  # else it needs the pool as it was
    write(folder, spec(**{**change, **ended, "job": {**change.get("job", {}), "rerun": 1}}))
    assert trainyard("compile", "spec.yaml", cwd=folder).code == 0


def test_it_stands_at_what_was_written_and_not_at_what_follows(
    folder: Path, trainyard: Command
) -> None:
    """One node talks over no EFA, so that variables and devices leave with the nodes."""
    write(folder, spec(job={"nodes": 1}))
    done = trainyard("check", "spec.yaml", cwd=folder)
    assert "`spec.trainer.env.NCCL_NET`: `AWS Libfabric` → absent" in done.out
    assert "`4` was submitted, and cannot be changed" in done.out


def test_a_job_that_moves_to_another_namespace(trainyard: Command, tmp_path: Path) -> None:
    """It would run in both."""
    queue = {"name": "research", "quota": [{"pool": "gpu", "nodes": 4}]}
    write(tmp_path, spec(queues=[{**queue, "namespaces": ["team-a"]}]))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    write(tmp_path, spec(queues=[{**queue, "namespaces": ["team-b"]}]))
    done = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert done.code == 1
    assert "error[RES030]" in done.out


def test_a_submitted_file_that_someone_edited(
    folder: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it was submitted as is no longer known, so nothing is guessed; so for its runtime."""
    root = folder / "generated" / "lab"
    (job,) = (root / "jobs").rglob("*.yaml")
    (runtime,) = (root / "queues" / "runtimes").glob("*.yaml")
    other_release(monkeypatch)
    for path, old, new in ((job, "torchrun", "bash"), (runtime, "Memory", '""')):
        text = path.read_text()
        assert old in text
        for edited in (text.replace(old, new), None):
            if edited is None:
                path.unlink()
            else:
                path.write_text(edited)
            done = trainyard("compile", "spec.yaml", cwd=folder)
            assert done.code == 1, (path, edited)
            assert "error[RES030]" in done.out
        path.write_text(text)
    assert trainyard("compile", "spec.yaml", cwd=folder).code == 0


def test_a_rendering_that_changes_under_the_same_name(
    folder: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name may be the same: what was written is compared."""
    from trainyard.eks.jobs.kinds import train_job as trainer

    body = trainer._body

    def longer(*given: Any, **named: Any) -> dict[str, Any]:
        made = body(*given, **named)
        return {**made, "spec": {**made["spec"], "activeDeadlineSeconds": 60}}

    before = train_jobs(folder)
    monkeypatch.setattr(trainer, "_body", longer)
    done = trainyard("compile", "spec.yaml", cwd=folder)
    assert HELD in done.out
    assert train_jobs(folder) == before


def test_an_index_of_an_older_trainyard(folder: Path, trainyard: Command) -> None:
    """It has every job in one file, and may know the object's name alone; that is enough where nothing changed."""
    (path,) = (folder / "generated" / "lab" / "runs").rglob("*.json")
    name = path.stem.partition(".")[2]
    path.unlink()
    index = folder / "generated" / "lab" / ".manifest.json"
    data = json.loads(index.read_text())
    data["jobs"] = {"training/train": {"object": name, "rerun": 0}}
    index.write_text(json.dumps(data))
    done = trainyard("compile", "spec.yaml", cwd=folder)
    assert (done.code, done.out) == (0, "")
    assert runs(folder)[name]["asked"]
    index.write_text(json.dumps(data))
    path.unlink()
    write(folder, spec(job={"image": "registry.test/train:2.0"}))
    assert "error[RES030]" in trainyard("compile", "spec.yaml", cwd=folder).out


IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/research/llama/train@sha256:{}".format
QUEUES = [
    {
        "name": name,
        "namespaces": ["team-a"],
        "quota": [{"pool": "gpu", "nodes": 2}],
        "cohort": "all",
    }
    for name in ("research", "urgent")
]


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (
            {"queue": "urgent", "image": IMAGE("0" * 63 + "1")},
            {"queue": "urgent", "image": IMAGE("0" * 63 + "2")},
            r"`spec.trainer.image`: `…0{20}1` → `…0{20}2`",
        ),
        (
            {"queue": "research"},
            {"queue": "urgent"},
            r'`metadata.labels\["kueue.x-k8s.io/queue-name"\]`: `research` → `urgent`',
        ),
        (
            {"queue": "research"},
            {"queue": "research", "priority": "high"},
            r'`metadata.labels\["kueue.x-k8s.io/priority-class"\]`: absent → `high`',
        ),
    ],
    ids=["image", "queue", "priority"],
)
def test_the_field_that_has_changed_is_named(
    before: dict[str, Any], after: dict[str, Any], note: str, tmp_path: Path, trainyard: Command
) -> None:
    """Where values are long, from shortly before the place where they differ."""
    parts: dict[str, Any] = {"queues": QUEUES, "priorities": [{"name": "high", "value": 100}]}
    write(tmp_path, spec(job=before, **parts))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    write(tmp_path, spec(job=after, **parts))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert "error[RES030]" in done.out
    assert re.search(f"= note: {note}\n", done.out), done.out


def test_what_changed_at_the_job_stands_before_its_pool_and_what_is_derived() -> None:
    job = job_of(spec())
    own, pool = job.at / "image", Route(("spec", "nodePools", 0, "taints"))
    changes = [job.at, pool, own]
    assert sorted(changes, key=lambda at: _distance(at, job)) == [own, pool, job.at]


def test_a_field_that_was_not_submitted(tmp_path: Path, trainyard: Command) -> None:
    parts: dict[str, Any] = {"queues": QUEUES, "priorities": [{"name": "high", "value": 100}]}
    write(tmp_path, spec(job={"queue": "research"}, **parts))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    write(tmp_path, spec(job={"queue": "research", "priority": "high"}, **parts))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert (
        "the job was submitted without it, which cannot be changed in a TrainJob that exists"
        in done.out
    )


def test_pods_that_share_a_node(tmp_path: Path, trainyard: Command) -> None:
    """Eight pods of one GPU fill one node: a run of theirs needs no more, and none of its GPUs is idle."""
    shards = {
        "name": "shards",
        "kind": "Job",
        "nodes": 8,
        "resources": {"accelerators": 1},
        "command": ["python", "eval.py"],
        "image": "registry.test/eval:1.0",
    }
    pool = {"instanceTypes": ["p5.48xlarge"], "zones": ["us-west-2a"], "nodes": 1}
    write(tmp_path, spec(pool=pool, jobs=[shards]))
    done = trainyard("compile", "spec.yaml", cwd=tmp_path)
    assert (done.code, "LIM016" in done.out) == (0, False)
    (run,) = runs(tmp_path).values()
    assert (run["nodes"], run["accelerators"]) == (1, {"nvidia.com/gpu": 8})
    write(tmp_path, spec(pool=pool, jobs=[]))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert (done.code, "CHG003" in done.out) == (0, True)
    shards["nodes"] = 4
    write(tmp_path, spec(pool=pool, jobs=[shards]))
    assert "LIM016" in trainyard("check", "--replace", "*", "spec.yaml", cwd=tmp_path).out
