"""Runs that the spec no longer asks for: they go on, keep what they need, and are forgotten when they have ended."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import FSX, spec
from running import Command, Run, snapshot

from history.folder import (
    QUEUES,
    SECOND_POOL,
    codes,
    compiled,
    only_object,
    runs,
    train_jobs,
    write,
)

pytestmark = pytest.mark.slow

STORAGE = [
    {"name": "data", "fsxLustre": {"existing": {**FSX, "address": "10.80.1.11", "version": "2.15"}}}
]
PRIORITIES = [{"name": "high", "value": 100}]
BOTH_POOLS = [spec()["spec"]["nodePools"][0], SECOND_POOL]
JOB = {"queue": "research", "mounts": [{"storage": "data", "path": "/data"}], "priority": "high"}


def whole(**parts: Any) -> dict[str, Any]:
    """A spec whose job uses a queue, a namespace, a pool, a storage and a priority of its own."""
    base = {
        "nodePools": BOTH_POOLS,
        "queues": QUEUES,
        "storage": STORAGE,
        "priorities": PRIORITIES,
        "job": JOB,
    }
    return spec(**{**base, **parts})


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory, compile_once: Callable[..., None]) -> Path:
    """A folder with the spec, compiled, and so submitted."""
    folder = tmp_path_factory.mktemp("submitted")
    write(folder, whole())
    compile_once(folder, "spec.yaml")
    return folder


@pytest.fixture
def folder(tmp_path: Path, submitted: Path) -> Path:
    """A copy of it."""
    shutil.copytree(submitted, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_what_a_run_needs_is_noted_beside_it(folder: Path) -> None:
    name = only_object(folder, "train")
    run = runs(folder)[name]
    assert (folder / "generated" / "lab" / "runs" / f"team-a.{name}.json").is_file()
    keys = ("state", "queue", "pool", "nodes", "accelerators", "storage", "priority")
    assert {key: run[key] for key in keys} == {
        "state": "submitted",
        "queue": "research",
        "pool": "gpu",
        "nodes": 4,
        "accelerators": {"nvidia.com/gpu": 32},
        "storage": ["data"],
        "priority": "high",
    }


def test_a_job_that_leaves_goes_on_and_is_said(folder: Path, trainyard: Command) -> None:
    """With the nodes that it holds and the command that ends it; a second compilation changes nothing."""
    name = only_object(folder, "train")
    done = compiled(folder, trainyard, whole(jobs=[]))
    assert done.code == 0
    assert f"`{name}` of job `train` holds 4 nodes of pool `gpu`" in done.out
    assert f"`kubectl delete trainjob {name} -n team-a` ends it" in done.out
    assert runs(folder)[name]["state"] == "left"
    assert (
        f"| team-a/{name} | train | 4 | gpu |" in trainyard("report", "spec.yaml", cwd=folder).out
    )
    after = snapshot(folder / "generated")
    again = trainyard("compile", "--check", "spec.yaml", cwd=folder)
    assert (again.code, codes(again)) == (0, codes(done) - {"CHG009"})
    assert trainyard("compile", "spec.yaml", cwd=folder).code == 0
    assert snapshot(folder / "generated") == after


LEAVES = {
    "namespace": (
        {"queues": [{**QUEUES[0], "namespaces": ["team-c"]}, QUEUES[1]]},
        "namespace `team-a`",
    ),
    "queue": (
        {"queues": [QUEUES[1]], "namespaces": [{"name": "team-a"}, {"name": "team-b"}]},
        "queue `research` of namespace `team-a`",
    ),
    "pool": (
        {
            "nodePools": [SECOND_POOL],
            "queues": [{**QUEUES[0], "quota": [{"pool": "cpu", "nodes": 0}]}, QUEUES[1]],
        },
        "pool `gpu`",
    ),
    "fewer nodes": (
        {
            "nodePools": [{**BOTH_POOLS[0], "nodes": {"max": 3}}, SECOND_POOL],
            "queues": [{**QUEUES[0], "quota": [{"pool": "gpu", "nodes": 3}]}, QUEUES[1]],
        },
        "node 4 of pool `gpu`",
    ),
    "quota of the queue": (
        {"queues": [{**QUEUES[0], "quota": [{"pool": "gpu", "nodes": 3}]}, QUEUES[1]]},
        "quota for 4 nodes of pool `gpu` in queue `research`",
    ),
    "pool of the queue": (
        {"queues": [{**QUEUES[0], "quota": [{"pool": "cpu", "nodes": 0}]}, QUEUES[1]]},
        "quota for 4 nodes of pool `gpu` in queue `research`",
    ),
    "quota of the namespace": (
        {"namespaces": [{"name": "team-a", "quota": {"accelerators": 24}}, {"name": "team-b"}]},
        "quota for 32 nvidia.com/gpu in namespace `team-a`",
    ),
    "type": (
        {"nodePools": [{**BOTH_POOLS[0], "instanceTypes": ["p5.48xlarge"]}, SECOND_POOL]},
        "instance type `p4d.24xlarge` of pool `gpu`",
    ),
    "zone": (
        {"nodePools": [{**BOTH_POOLS[0], "zones": ["us-west-2a"]}, SECOND_POOL]},
        "zone `us-west-2b` of pool `gpu`",
    ),
    "taint": (
        {"nodePools": [{**BOTH_POOLS[0], "taints": [{"key": "team", "value": "a"}]}, SECOND_POOL]},
        "freedom from taint `team=a:NoSchedule` of pool `gpu`",
    ),
    "EFA": ({"nodePools": [{**BOTH_POOLS[0], "efa": False}, SECOND_POOL]}, "EFA of pool `gpu`"),
    "spot": (
        {"nodePools": [{**BOTH_POOLS[0], "capacity": {"spot": {}}}, SECOND_POOL]},
        "capacity `on-demand` of pool `gpu`",
    ),
    "storage": ({"storage": []}, "storage `data`"),
    "priority": ({"priorities": []}, "priority `high`"),
}


@pytest.mark.parametrize("what", LEAVES)
def test_what_a_run_needs_cannot_leave(what: str, folder: Path, trainyard: Command) -> None:
    """Neither with the job nor later; it may once the run has ended."""
    parts, thing = LEAVES[what]
    name = only_object(folder, "train")
    before = snapshot(folder / "generated")
    done = compiled(folder, trainyard, whole(**{"jobs": [], **parts}))
    assert done.code == 1
    assert f"error[CHG001]: {thing} leaves the spec, and run `{name}` needs it" in done.out
    assert f"`completedRuns: [{name}]`" in done.out
    assert snapshot(folder / "generated") == before
    assert compiled(folder, trainyard, whole(jobs=[])).code == 0
    assert "error[CHG001]" in compiled(folder, trainyard, whole(**{"jobs": [], **parts})).out
    ended = compiled(folder, trainyard, whole(**{"jobs": [], **parts}, completedRuns=[name]))
    assert (ended.code, codes(ended) - {"CHG009"}) == (0, {"CHG048"})


@pytest.mark.parametrize(
    "namespaces",
    [
        [{"name": "team-a", "quota": {"accelerators": 32}}, {"name": "team-b"}],
        [{"name": "team-a", "quota": {"cpu": "1000"}}, {"name": "team-b"}],
        [{"name": "team-a"}, {"name": "team-b", "quota": {"accelerators": 8}}],
    ],
    ids=["as much", "of another resource", "of another namespace"],
)
def test_a_quota_that_leaves_room_for_a_run(
    namespaces: list[dict[str, Any]], folder: Path, trainyard: Command
) -> None:
    done = compiled(folder, trainyard, whole(jobs=[], namespaces=namespaces))
    assert (done.code, "CHG001" in done.out) == (0, False), done.out


def test_the_pool_that_a_job_may_fall_back_to_cannot_leave(
    trainyard: Command, tmp_path: Path
) -> None:
    second = {**BOTH_POOLS[0], "name": "spare"}
    quota = [{"pool": "gpu", "nodes": 4}, {"pool": "spare", "nodes": 4}]
    queue = {"name": "q", "namespaces": ["team-a"], "quota": quota}
    both: dict[str, Any] = {"nodePools": [BOTH_POOLS[0], second], "queues": [queue]}
    first = compiled(tmp_path, trainyard, spec(job={"pool": ["gpu", "spare"]}, **both))
    assert first.code == 0, first.out
    assert compiled(tmp_path, trainyard, spec(jobs=[], **both)).code == 0
    one = {"nodePools": both["nodePools"][:1], "queues": [{**queue, "quota": quota[:1]}]}
    done = compiled(tmp_path, trainyard, spec(jobs=[], **one))
    assert done.code == 1
    assert "error[CHG001]: pool `spare` leaves the spec, and run `train-" in done.out


def test_a_pool_that_is_renamed_under_a_run_stays_under_its_name(
    trainyard: Command, tmp_path: Path
) -> None:
    """Nobody can give nodes the label by which Karpenter calls their pool."""

    def named(pool: str) -> dict[str, Any]:
        queue = {"name": "q", "namespaces": ["team-a"], "quota": [{"pool": pool, "nodes": 4}]}
        return spec(nodePools=[{**BOTH_POOLS[0], "name": pool}], queues=[queue])

    assert compiled(tmp_path, trainyard, named("gpu")).code == 0
    done = compiled(tmp_path, trainyard, named("h100"))
    assert done.code == 1
    assert "error[PLC005]" in done.out
    assert "help: keep a pool `gpu` in this commit" in done.out
    assert "add the label" not in done.out


def test_of_many_runs_that_go_on_the_first_are_named(trainyard: Command, tmp_path: Path) -> None:
    def jobs(count: int) -> list[dict[str, Any]]:
        names = [f"j{number}" for number in range(count)]
        words = {"nodes": 1, "image": "registry.test/train:1.0", "command": ["python", "t.py"]}
        return [{"name": name, **words} for name in names]

    for count, more in ((5, ""), (7, "= note: and 2 more: `trainyard report` lists them\n")):
        folder = tmp_path / str(count)
        folder.mkdir()
        pool = {"nodes": {"max": 8}}
        assert compiled(folder, trainyard, spec(pool=pool, jobs=jobs(count))).code == 0
        done = compiled(folder, trainyard, spec(pool=pool, jobs=[]))
        assert f"note[CHG003]: {count} earlier runs go on" in done.out
        assert done.out.count(" ends it\n") == 5
        assert ("more: `trainyard report`" in done.out) is bool(more)
        assert more in done.out


@pytest.mark.parametrize(
    ("again", "place"), [(["train"], "spec.jobs[0]"), (["train", "other"], "spec.jobs")]
)
def test_where_runs_that_go_on_are_noted(
    trainyard: Command, tmp_path: Path, again: list[str], place: str
) -> None:
    """At their job, where they are of one, and else at all jobs."""

    def jobs(*rerun: str) -> dict[str, Any]:
        words = {"nodes": 1, "image": "registry.test/train:1.0", "command": ["python", "t.py"]}
        named = [{"name": name, **words} for name in ("train", "other")]
        return spec(
            pool={"nodes": {"max": 8}},
            jobs=[job | {"rerun": 1} if job["name"] in rerun else job for job in named],
        )

    assert compiled(tmp_path, trainyard, jobs()).code == 0
    write(tmp_path, jobs(*again))
    done = trainyard("check", "spec.yaml", "--format", "json", cwd=tmp_path)
    notes = [each for each in json.loads(done.out)["diagnostics"] if each["code"] == "CHG003"]
    assert [each["route"] for each in notes] == [place]


def test_files_of_others_beside_ours_are_no_runs_and_no_jobs(
    folder: Path, trainyard: Command
) -> None:
    """A note in a folder, and a job that somebody wrote by hand, of which nothing can be remembered."""
    root = folder / "generated" / "lab"
    (root / "runs" / "README.md").write_text("of the team")
    (root / "queues" / "notes.txt").write_text("of the team")
    (root / "jobs" / "mine.trainjob-a.yaml").write_text("kind: TrainJob\n")
    done = trainyard("check", "spec.yaml", cwd=folder)
    assert (done.code, done.out) == (0, "")


def test_nodes_that_a_queue_borrows_are_enough(folder: Path, trainyard: Command) -> None:
    """Kueue can admit a run again as long as its queue may borrow what it needs."""
    share = {"pool": "gpu", "nodes": 1, "borrowingLimit": 3}
    queues = [{**QUEUES[0], "cohort": "all", "quota": [share]}, QUEUES[1]]
    cohort = {"cohorts": [{"name": "all"}], "queues": queues}
    done = compiled(folder, trainyard, whole(jobs=[], **cohort))
    assert (done.code, "CHG001" in done.out) == (0, False)
    share["borrowingLimit"] = 2
    assert "error[CHG001]" in compiled(folder, trainyard, whole(jobs=[], **cohort)).out


def test_a_rerun_leaves_the_run_before(folder: Path, trainyard: Command) -> None:
    first = only_object(folder, "train")
    done = compiled(folder, trainyard, whole(job={**JOB, "rerun": 1}))
    assert done.code == 0
    assert f"`kubectl delete trainjob {first} -n team-a` ends it" in done.out
    states = {name: run["state"] for name, run in runs(folder).items()}
    assert states.pop(first) == "left"
    assert list(states.values()) == ["submitted"]
    done = compiled(folder, trainyard, whole(job={**JOB, "rerun": 1}, completedRuns=[first]))
    assert (done.code, codes(done)) == (0, {"CHG048"})
    done = compiled(folder, trainyard, whole(job={**JOB, "rerun": 1}))
    assert (done.code, done.out) == (0, "")
    assert first not in runs(folder)


def test_git_stops_asking_before_a_queue_leaves(folder: Path, trainyard: Command) -> None:
    """Until the merge Flux makes the run again where it was deleted: its queue would stay Terminating."""
    name = only_object(folder, "train")
    gone = whole(jobs=[], queues=[QUEUES[1]], completedRuns=[name])
    done = compiled(folder, trainyard, gone)
    assert "error[CHG001]: namespace `team-a` leaves the spec" in done.out
    assert "let it leave in the next commit, with `completedRuns: [train-" in done.out
    assert compiled(folder, trainyard, whole(jobs=[])).code == 0
    assert compiled(folder, trainyard, gone).code == 0


def test_a_job_that_is_done_has_no_object(folder: Path, trainyard: Command) -> None:
    """Nothing that it needed is kept, nothing runs it again, and it runs anew only if the spec asks for it."""
    name = only_object(folder, "train")
    gone = whole(
        queues=[QUEUES[1]],
        storage=[],
        priorities=[],
        nodePools=[SECOND_POOL],
        job={**JOB, "completed": True},
    )
    done = compiled(folder, trainyard, gone)
    assert (done.code, codes(done)) == (0, {"CHG009", "CHG048"})
    assert train_jobs(folder) == {}
    assert runs(folder)[name]["state"] == "ended"
    done = compiled(folder, trainyard, whole())
    assert done.code == 1
    assert (
        f"error[RES030]: job `train` has ended as `{name}` and would run a second time" in done.out
    )
    assert compiled(folder, trainyard, whole(job={**JOB, "rerun": 1})).code == 0
    assert len(train_jobs(folder)) == 2


def test_a_renamed_job_does_not_run_twice(folder: Path, trainyard: Command) -> None:
    name = only_object(folder, "train")
    before = snapshot(folder / "generated")
    done = compiled(folder, trainyard, whole(job={**JOB, "name": "train2"}))
    assert done.code == 1
    assert "error[CHG004]: job `train2` is job `train` under another name" in done.out
    assert "CHG003" not in done.out  # what is in doubt is not said to go on
    assert snapshot(folder / "generated") == before
    assert (
        compiled(folder, trainyard, whole(job={**JOB, "name": "train2"}, completedRuns=[name])).code
        == 0
    )


def test_a_second_run_under_another_name_can_be_asked_for(folder: Path, trainyard: Command) -> None:
    assert compiled(folder, trainyard, whole(job={**JOB, "name": "train2", "rerun": 1})).code == 0


def test_a_copy_beside_the_first_is_no_rename(folder: Path, trainyard: Command) -> None:
    data = whole()
    data["spec"]["jobs"].append({**data["spec"]["jobs"][0], "name": "train2"})
    done = compiled(folder, trainyard, data)
    assert done.code == 0
    assert "CHG004" not in done.out


def test_a_job_that_comes_back(folder: Path, trainyard: Command) -> None:
    """Unchanged it is the run that it was; changed it is a second run."""
    name = only_object(folder, "train")
    assert compiled(folder, trainyard, whole(jobs=[])).code == 0
    changed = compiled(folder, trainyard, whole(job={**JOB, "image": "registry.test/train:2.0"}))
    assert changed.code == 1
    assert f"error[RES030]: job `train` was submitted as `{name}`" in changed.out
    done = compiled(folder, trainyard, whole())
    assert done.code == 0
    assert f"note[CHG006]: job `train` is back as `{name}`" in done.out
    assert runs(folder)[name]["state"] == "submitted"
    assert trainyard("compile", "--check", "spec.yaml", cwd=folder).code == 0


@pytest.mark.parametrize(
    ("named", "code", "words"),
    [
        ("train-00000", 0, "note[CHG005]: no run `train-00000` is remembered"),
        (None, 1, "is what job `train` asks for"),
    ],
)
def test_a_name_that_ends_nothing(
    named: str | None, code: int, words: str, folder: Path, trainyard: Command
) -> None:
    done = compiled(folder, trainyard, whole(completedRuns=[named or only_object(folder, "train")]))
    assert done.code == code
    assert words in done.out


def test_what_was_never_pushed_is_replaced(folder: Path, trainyard: Command) -> None:
    """``--replace`` is about one job: the run that the spec asked for last, or an earlier one by its own name."""
    first = only_object(folder, "train")
    edited = {**JOB, "image": "registry.test/train:2.0"}
    assert compiled(folder, trainyard, whole(job={**JOB, "rerun": 1})).code == 0
    pushed = set(runs(folder))
    (second,) = pushed - {first}
    assert compiled(folder, trainyard, whole(job={**edited, "rerun": 1})).code == 1
    done = trainyard("compile", "--replace", "train", "spec.yaml", cwd=folder)
    assert done.code == 0
    assert f"note[CHG029]: run `{second}` of job `train` is forgotten" in done.out
    assert f"kubectl delete trainjob {second} -n team-a" in done.out
    assert first in runs(folder)
    assert second not in runs(folder)
    lost = compiled(folder, trainyard, whole(jobs=[], queues=[QUEUES[1]]))
    assert "error[CHG001]" in lost.out
    assert "error[CHG001]" in _replacing("*", folder, trainyard).out
    assert "CHG029" not in _replacing("*", folder, trainyard).out
    done = _replacing(first, folder, trainyard)
    assert f"run `{first}` of job `train` is forgotten" in done.out


def _replacing(job: str, folder: Path, trainyard: Command) -> Run:
    return trainyard("compile", "--replace", job, "spec.yaml", cwd=folder)


def test_a_job_that_no_run_has_is_not_replaced(folder: Path, trainyard: Command) -> None:
    before = snapshot(folder)
    done = _replacing("trian", folder, trainyard)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "trainyard: `--replace trian`: `generated` remembers no run of such a job: did you mean `train`?\n"
    )
    other = "trainyard: `--replace other`: `generated` remembers no run of such a job\n"
    assert _replacing("other", folder, trainyard).err == other
    assert snapshot(folder) == before


def test_a_job_that_would_be_the_same_is_not_forgotten(folder: Path, trainyard: Command) -> None:
    before = snapshot(folder)
    done = _replacing("*", folder, trainyard)
    assert (done.code, done.out) == (0, "")
    assert snapshot(folder) == before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"storage": null}', "<<<<<<< ours"])
def test_a_run_file_that_cannot_be_read(text: str, folder: Path, trainyard: Command) -> None:
    """It would let the job of that run be submitted a second time."""
    (path,) = (folder / "generated" / "lab" / "runs").rglob("*.json")
    path.write_text(text)
    before = snapshot(folder / "generated")
    for job in (JOB, {**JOB, "image": "registry.test/train:2.0"}):
        done = compiled(folder, trainyard, whole(job=job))
        assert (done.code, "INT000" in done.out) == (1, False)
        assert f"error[CHG008]: `{path.relative_to(folder)}` cannot be read" in done.out
        assert snapshot(folder / "generated") == before
    path.unlink()
    done = compiled(folder, trainyard, whole())
    assert "its file under `runs/` is gone" in done.out
    (job,) = (folder / "generated" / "lab" / "jobs").glob("*.trainjob-*.yaml")
    job.unlink()
    assert compiled(folder, trainyard, whole()).code == 0


FIELDS = (
    "job",
    "namespace",
    "object",
    "rerun",
    "state",
    "asked",
    "work",
    "queue",
    "pool",
    "nodes",
    "accelerators",
    "storage",
    "priority",
)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [None, 1, "x", [1], {"x": "y"}], ids=str)
def test_a_run_file_with_a_wrong_value(
    field: str, value: Any, folder: Path, trainyard: Command
) -> None:
    (path,) = (folder / "generated" / "lab" / "runs").rglob("*.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    for parts in ({}, {"jobs": [], "queues": [QUEUES[1]]}):
        assert compiled(folder, trainyard, whole(**parts)).code in (0, 1)


def test_what_flux_deletes_is_said(folder: Path, trainyard: Command) -> None:
    """Objects that leave, but for those that Flux must keep; once, at the edit."""
    name = only_object(folder, "train")
    done = compiled(folder, trainyard, whole(jobs=[], priorities=[], completedRuns=[name]))
    assert "note[CHG009]: Flux deletes " in done.out
    (names,) = re.findall(r"= note: (.*`WorkloadPriorityClass/high`.*)", done.out)
    assert "TrainJob/" not in names
    assert "CHG009" not in trainyard("check", "spec.yaml", cwd=folder).out
