"""Output that cannot be written: what is reported, and that what was there stays, byte for byte and time for time."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from running import SPECS, Command, Run, contents, snapshot

pytestmark = pytest.mark.slow

RERUN = "command: [torchrun, train.py, --lr=0.1], rerun: 1"


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory, compile_once: Callable[..., None]) -> Path:
    """A folder with a spec and what it compiled to; then the spec was changed."""
    folder = tmp_path_factory.mktemp("changed")
    shutil.copy(SPECS / "starter.yaml", folder / "spec.yaml")
    compile_once(folder, "spec.yaml")
    text = (folder / "spec.yaml").read_text()
    (folder / "spec.yaml").write_text(text.replace("command: [torchrun, train.py]", RERUN))
    return folder


@pytest.fixture
def folder(changed: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(changed, tmp_path, dirs_exist_ok=True)
    return tmp_path


def refused(done: Run, code: str, fact: str) -> None:
    """One error with this code and fact, exit code 2, and a line that says that nothing was written."""
    assert re.findall(r"^error\[(\w+)\]: (.*)$", done.out, re.MULTILINE) == [(code, fact)]
    assert "= help: " in done.out
    assert done.err.splitlines()[-1] == "nothing was written" or "not written" in done.err
    assert done.code == 2


@pytest.mark.parametrize("check", [[], ["--check"]])
@pytest.mark.parametrize("output", ["out", "out/deeper"])
@pytest.mark.parametrize(
    "make", [lambda path: path.write_text("mine\n"), lambda path: path.symlink_to("nowhere")]
)
def test_no_folder_at_or_above_the_output(
    make: Callable[[Path], object], output: str, check: list[str], folder: Path, trainyard: Command
) -> None:
    """A file, or a link that leads nowhere; `--check` calls that no stale output either."""
    make(folder / "out")
    before = snapshot(folder)
    done = trainyard("compile", *check, "spec.yaml", "-o", output, cwd=folder)
    refused(done, "OUT003", "`out` is not a directory")
    assert snapshot(folder) == before


def test_a_folder_that_cannot_be_made(folder: Path, trainyard: Command) -> None:
    """Nobody can make a folder in /proc, root neither."""
    before = snapshot(folder)
    done = trainyard("compile", "spec.yaml", "-o", "/proc/generated", cwd=folder)
    refused(done, "OUT001", "cannot write `/proc/generated`: no such file or directory")
    assert snapshot(folder) == before


def test_a_folder_without_permission(
    folder: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write everywhere, so the answer of the system is set here."""
    before, access = snapshot(folder), os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: mode != os.W_OK | os.X_OK and access(path, mode)
    )
    done = trainyard("compile", "spec.yaml", cwd=folder)
    refused(done, "OUT001", "cannot write `generated/starter`: permission denied")
    assert snapshot(folder) == before


def test_foreign_files_are_kept_and_named(folder: Path, trainyard: Command) -> None:
    """A file of somebody else's is a warning, not in the way of a write."""
    mine = folder / "generated" / "starter" / "jobs" / "mine.yaml"
    mine.write_text("kind: ConfigMap\n")
    times = mine.stat().st_mtime_ns
    done = trainyard("compile", "spec.yaml", cwd=folder)
    assert done.code == 0
    assert (
        "warning[OUT006]: `generated/starter/jobs/mine.yaml` was not written by Trainyard"
        in done.out
    )
    assert (mine.read_text(), mine.stat().st_mtime_ns) == ("kind: ConfigMap\n", times)


def test_a_foreign_file_in_the_way(folder: Path, trainyard: Command) -> None:
    """Where a file of ours must stand."""
    output = folder / "fresh"
    (output / "starter" / "bootstrap").mkdir(parents=True)
    (output / "starter" / "bootstrap" / "README.md").write_text("mine\n")
    before = snapshot(folder)
    done = trainyard("compile", "spec.yaml", "-o", "fresh", cwd=folder)
    refused(
        done,
        "OUT005",
        "`fresh/starter/bootstrap/README.md` is in the way and was not written by Trainyard",
    )
    assert snapshot(folder) == before


def test_what_one_cluster_refuses_keeps_all_from_being_written(
    trainyard: Command, tmp_path: Path
) -> None:
    """A compilation of two clusters writes both or none."""
    for name in ("starter", "two-teams"):
        shutil.copy(SPECS / f"{name}.yaml", tmp_path)
    (tmp_path / "generated" / "two-teams" / "bootstrap").mkdir(parents=True)
    (tmp_path / "generated" / "two-teams" / "bootstrap" / "README.md").write_text("mine\n")
    before = snapshot(tmp_path)
    done = trainyard("compile", "starter.yaml", "two-teams.yaml", cwd=tmp_path)
    mine = "`generated/two-teams/bootstrap/README.md`"
    refused(done, "OUT005", f"{mine} is in the way and was not written by Trainyard")
    assert done.err.splitlines()[-1] == "nothing was written"
    assert snapshot(tmp_path) == before


def test_a_cluster_whose_spec_cannot_be_read_is_no_orphan(folder: Path, trainyard: Command) -> None:
    """What was not read is unknown: nobody is asked to take a cluster down for the sake of a tab."""
    (folder / "spec.yaml").write_text("\tkind: TrainingCluster\n")
    done = trainyard("compile", ".", cwd=folder)
    assert re.findall(r"^\w+\[(\w+)\]", done.out, re.MULTILINE) == ["YML003"]


def test_only_what_this_run_reads_can_be_orphaned(trainyard: Command, tmp_path: Path) -> None:
    """The clusters of other folders of specs are no orphans, and a renamed one is."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        text = (
            (SPECS / "starter.yaml").read_text().replace("name: starter", f"name: cluster-{name}")
        )
        (tmp_path / name / "spec.yaml").write_text(text)
        done = trainyard("compile", name, cwd=tmp_path)
        assert (done.code, done.out) == (0, "")
    (tmp_path / "a" / "spec.yaml").write_text(text.replace("cluster-b", "cluster-c"))
    done = trainyard("compile", "a", cwd=tmp_path)
    assert re.findall(r"^warning\[OUT009\]: (.*)$", done.out, re.MULTILINE) == [
        "`generated/cluster-a` belongs to no spec any more"
    ]


def test_what_a_killed_run_left_is_removed_where_nothing_else_is_to_write(
    folder: Path, trainyard: Command
) -> None:
    left = folder / "generated" / ".starter.trainyard-new"
    (left / "jobs").mkdir(parents=True)
    assert trainyard("compile", "spec.yaml", cwd=folder).code == 0
    assert not left.exists()


def test_a_folder_whose_manifest_names_no_spec_is_an_orphan(
    folder: Path, trainyard: Command
) -> None:
    other = folder / "generated" / "other"
    other.mkdir()
    for text in ("{}", "[]", "{"):
        (other / ".manifest.json").write_text(text)
        done = trainyard("compile", ".", cwd=folder)
        assert "warning[OUT009]: `generated/other` belongs to no spec any more" in done.out


def test_a_manifest_that_is_nested_without_end(folder: Path, trainyard: Command) -> None:
    (folder / "generated/starter/.manifest.json").write_text("[" * 100_000)
    done = trainyard("compile", "--check", "spec.yaml", cwd=folder)
    assert (done.code, "error[CHG031]" in done.out) == (1, True)


def test_a_spec_whose_name_is_not_utf8(trainyard: Command, tmp_path: Path) -> None:
    shutil.copy(SPECS / "starter.yaml", os.fsencode(tmp_path) + b"/gr\xf6.yaml")
    assert trainyard("compile", ".", cwd=tmp_path).code == 0
    assert json.loads((tmp_path / "generated/starter/.manifest.json").read_text())["spec"].endswith(
        ".yaml"
    )


def test_output_inside_the_folder_of_the_specs(folder: Path, trainyard: Command) -> None:
    """The second run does not read what the first one wrote."""
    assert trainyard("compile", ".", cwd=folder).code == 0
    done = trainyard("compile", ".", "--check", cwd=folder)
    assert (done.code, re.findall(r"\[\w+\]", done.out)) == (0, ["[CHG003]"])


def test_two_runs_at_once(folder: Path, trainyard: Command) -> None:
    """The second has to wait; when the first has ended, it goes through."""
    before = snapshot(folder)
    handle = os.open(folder / "generated", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done = trainyard("compile", "spec.yaml", cwd=folder)
    finally:
        os.close(handle)
    refused(done, "OUT004", "another run is writing next to `generated/starter`")
    assert snapshot(folder) == before
    assert trainyard("compile", "spec.yaml", cwd=folder).code == 0


def test_a_changed_job_that_was_submitted(folder: Path, trainyard: Command) -> None:
    """Without `rerun:` it would run a second time beside itself."""
    spec = folder / "spec.yaml"
    spec.write_text(spec.read_text().replace(", rerun: 1", ""))
    before = snapshot(folder)
    done = trainyard("compile", "spec.yaml", cwd=folder)
    assert re.search(
        r"error\[RES030\]: job `hello` was submitted as `hello-\w{5}` and would run a second time\n"
        r" +--> spec.yaml:13:163\n",
        done.out,
    )
    assert "= note: `spec.trainer.command`: " in done.out
    assert "= help: add `rerun: 1` to run it again" in done.out
    assert done.code == 1
    assert snapshot(folder) == before
    assert trainyard("compile", "--replace", "hello", "spec.yaml", cwd=folder).code == 0


def _kill_at(number: int) -> None:
    """Kill this process, for real, just before its ``number``-th call that changes the disk."""
    count = 0

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **kwargs)

        return wrapper

    from trainyard.output.emit import swap

    for name in ("mkdir", "link", "write", "fsync", "rename", "unlink", "rmdir"):
        setattr(os, name, counted(getattr(os, name)))
    swap.exchange = counted(swap.exchange)  # type: ignore[assignment]


def _compiled(folder: Path) -> Callable[[], bool]:
    """What a compilation does last, once all is judged and held against its folder: write it. Whether it could."""
    from trainyard.output.synthesis import Synthesis
    from trainyard.run import driver, writer
    from trainyard.run.outcome import Options

    options = Options(output=folder / "generated", today=date(2026, 11, 21))
    (done,) = driver.check([folder / "spec.yaml"], options).compilations
    cdk8s = Synthesis()
    prepared = writer.prepare(done, options, cdk8s)
    cdk8s.take = lambda _: None  # type: ignore[method-assign]  # a killed run could not stop it
    return lambda: not writer.write(done, prepared, options, cdk8s).failed


def _write_and_die(write: Callable[[], bool], number: int) -> bool:
    """Write in a child that is killed; whether it was (else it came to its end)."""
    child = os.fork()
    if child == 0:
        try:
            _kill_at(number)
            os._exit(0 if write() else 3)
        finally:
            os._exit(4)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_kill_between_any_two_writes(
    folder: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is what it was, or what it should become; and the next run mends the rest.

    Every 6th point here, where a whole compilation runs; tests/emit tries each single one.
    """
    old = contents(folder / "generated")
    (folder / "fresh").mkdir()
    assert trainyard("compile", "../spec.yaml", cwd=folder / "fresh").code == 0
    monkeypatch.chdir(folder)
    new = {
        path: data
        for path, data in contents(folder / "fresh" / "generated").items()
        if not path.endswith(".json")
    }
    backup, seen, number = folder / "backup", [], 1
    shutil.copytree(folder / "generated", backup)
    write = _compiled(folder)
    while _write_and_die(write, number):
        left = {
            path: data
            for path, data in contents(folder / "generated").items()
            if not path.startswith(".")
        }
        same = {path: data for path, data in left.items() if not path.endswith(".json")}
        seen.append("old" if left == old else "new" if same == new else f"broken at call {number}")
        shutil.rmtree(folder / "generated")
        shutil.copytree(backup, folder / "generated")
        number += 6
    assert set(seen) <= {"old", "new"}
    assert seen.count("old") > 8
    assert trainyard("compile", "spec.yaml", cwd=folder).code == 0
    assert trainyard("compile", "--check", "spec.yaml", cwd=folder).code == 0
    assert os.listdir(folder / "generated") == ["starter"]


def test_an_unchanged_run_removes_what_a_killed_one_left(
    trainyard: Command, tmp_path: Path
) -> None:
    assert trainyard("compile", SPECS / "starter.yaml", cwd=tmp_path).code == 0
    shutil.copytree(
        tmp_path / "generated" / "starter", tmp_path / "generated" / ".starter.trainyard-new"
    )
    before = snapshot(tmp_path / "generated" / "starter")
    assert "current" in trainyard("compile", "--check", SPECS / "starter.yaml", cwd=tmp_path).err
    assert len(os.listdir(tmp_path / "generated")) == 2
    assert "current" in trainyard("compile", SPECS / "starter.yaml", cwd=tmp_path).err
    assert os.listdir(tmp_path / "generated") == ["starter"]
    assert snapshot(tmp_path / "generated" / "starter") == before


EXCEPTION = """\
- code: PLC006
  object: EC2NodeClass/h200-cr-0a1b2c3d4e5f60713
  reason: agreed with the platform team
  until: 2020-01-31
"""


def test_an_expired_exception(trainyard: Command, tmp_path: Path) -> None:
    """The exception is reported where it stands, and what it excused is reported again."""
    case = Path(__file__).parent / "cases" / "placement-group-with-block.yaml"
    shutil.copy(case, tmp_path / "spec.yaml")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "exceptions.yaml").write_text(EXCEPTION)
    done = trainyard("compile", "--format", "json", "spec.yaml", cwd=tmp_path)
    found = json.loads(done.out)["diagnostics"]
    assert [
        (each["code"], Path(each["place"]["file"]).name, each["place"]["line"]) for each in found
    ] == [("POL002", "exceptions.yaml", 1), ("PLC006", "spec.yaml", 13)]
    assert found[0]["message"] == "the exception for `PLC006` ended on 2020-01-31"
    assert found[0]["help"] == "fix what it excuses, or agree on a later `until`"
    assert done.code == 1
    assert not (tmp_path / "generated").exists()


def test_an_exception_that_holds(trainyard: Command, tmp_path: Path) -> None:
    """The same exception with an end to come: the finding is excused, and counted."""
    case = Path(__file__).parent / "cases" / "placement-group-with-block.yaml"
    shutil.copy(case, tmp_path / "spec.yaml")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "exceptions.yaml").write_text(
        EXCEPTION.replace("2020-01-31", "2999-01-31")
    )
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert done.err == "1 exception\nclean: bad\n"
