"""cdk8s in its own process: the same objects, on the Node of the wheel, and a clear word when it cannot."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import SPECS, example, manifests_of, objects_of, spec
from one_cdk8s import OneCdk8s
from running import ROOT, Command, environment
from running import SPECS as FOLDER
from trainyard.output import synthesis
from trainyard.output.manifest import Manifest
from trainyard.output.synthesis import Synthesis

pytestmark = pytest.mark.slow


def _config_map(name: str, **data: str) -> Manifest:
    return Manifest(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    )


@pytest.fixture
def one_cdk8s() -> None:
    """Each compilation starts its own, as it does for users."""


@pytest.fixture
def cdk8s(monkeypatch: pytest.MonkeyPatch) -> Iterator[Synthesis]:
    """For tests of what it makes: one process for all of them, which is asked for each object."""
    monkeypatch.setattr(OneCdk8s, "_equal", set())
    with OneCdk8s() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    yield
    OneCdk8s.end()


def test_cdk8s_makes_the_same_objects(cdk8s: Synthesis) -> None:
    for name in SPECS:
        cdk8s.take(objects_of(example(name)[1]))
    assert cdk8s.differing() == []


def test_what_cdk8s_makes_otherwise_is_found(cdk8s: Synthesis) -> None:
    """cdk8s drops an empty map of labels of a document; so this one must be reported, and no other."""
    dull = Manifest(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "labels": {}}}
    )
    cdk8s.take([_config_map("a"), dull, _config_map("c")])
    assert cdk8s.differing() == [dull]
    assert cdk8s.differing() == []


def test_more_than_one_file_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "_CHUNK", 300)
    many = [_config_map(f"object-{number}", text="x" * 50) for number in range(20)]
    many[13].body["metadata"]["labels"] = {}
    with Synthesis() as cdk8s:
        cdk8s.take(many)
        assert cdk8s.differing() == [many[13]]
        assert len([each for each in os.listdir(cdk8s.folder) if each.endswith(".yaml")]) > 4


def test_nothing_is_left_and_nothing_is_started_unasked() -> None:
    with Synthesis() as idle:
        assert not idle.started
    with Synthesis() as running:
        process = running.start()
        assert Path(running.folder).is_dir()
    assert process.poll() is not None
    assert not Path(running.folder).exists()


def test_when_this_process_is_killed_the_other_cleans_up(tmp_path: Path) -> None:
    program = (
        "from trainyard.output.synthesis import Synthesis; import os, signal; s = Synthesis(); s.start(); "
        "print(s.folder, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(TMPDIR=str(tmp_path)),
        text=True,
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert done.stdout.startswith(str(tmp_path))
    end = time.monotonic() + 60
    while os.listdir(tmp_path) and time.monotonic() < end:
        time.sleep(0.05)
    assert os.listdir(tmp_path) == []


def _folder(beside: Path) -> Path:
    """One that the program may use, and removes."""
    (beside / "gone").mkdir()
    return beside / "gone"


def test_it_runs_on_the_node_of_the_wheel_without_a_banner(tmp_path: Path) -> None:
    """A Node past its end of life would say so on standard error; one on the PATH is never taken."""
    (tmp_path / "node").write_text("#!/bin/sh\necho the host\n")
    (tmp_path / "node").chmod(0o755)
    (tmp_path / "object.yaml").write_text(
        '---\n{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}\n'
    )
    program = ROOT / "compiler" / "trainyard" / "output" / "lowering" / "chart.py"
    done = subprocess.run(
        [sys.executable, "-P", program, _folder(tmp_path)],
        input=f"{tmp_path / 'object.yaml'}\n",
        text=True,
        capture_output=True,
        env=environment(PATH=str(tmp_path)),
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


@pytest.mark.parametrize(
    ("home", "mode"),
    [("home", 0o775), ("none", 0o755), ("/proc", 0o755)],
    ids=["umask 002", "no home", "a home that looks writable"],
)
def test_a_cache_that_jsii_refuses(home: str, mode: int, tmp_path: Path) -> None:
    """One that others could write to, and ones that cannot be made: for that in /proc jsii would wait for ever."""
    (tmp_path / "home" / ".cache").mkdir(parents=True)
    (tmp_path / "home" / ".cache").chmod(mode)
    (tmp_path / "none").write_text("a file")
    (tmp_path / "object.yaml").write_text(
        '---\n{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}\n'
    )
    done = subprocess.run(
        [
            sys.executable,
            "-P",
            ROOT / "compiler" / "trainyard" / "output" / "lowering" / "chart.py",
            _folder(tmp_path),
        ],
        text=True,
        input=f"{tmp_path / 'object.yaml'}\n",
        capture_output=True,
        env=environment(HOME=str(tmp_path / home)),
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_nothing_is_left_in_the_folder_for_temporary_files(tmp_path: Path) -> None:
    """Node leaves its own there when it is killed, unless it is told to use ours; one that cannot be is no obstacle."""
    program = (
        "from trainyard.output.synthesis import Synthesis; from trainyard.output.manifest import Manifest\n"
        "with Synthesis() as s: s.take([]); print(len(s.differing()))"
    )
    for folder in (tmp_path, tmp_path / "none"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment(TMPDIR=str(folder)),
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
        assert os.listdir(tmp_path) == []


def test_a_full_disk_of_temporary_files_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Synthesis() as running:
        running.start()
        monkeypatch.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match=f"No space left on device: '{running.folder}/0.yaml'"):
            running.take([_config_map("a")])
    assert not Path(running.folder).exists()


def test_a_cdk8s_that_cannot_start(
    trainyard: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Reported in two lines with the reason, and nothing is written."""
    broken = tmp_path / "chart.py"
    broken.write_text("raise OSError('no Node for this machine')\n")
    monkeypatch.setattr(synthesis, "_PROGRAM", broken)
    done = trainyard("compile", FOLDER / "starter.yaml", "-o", tmp_path / "generated")
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith(
        "error[INT000]: RuntimeError: cdk8s has failed: OSError: no Node for this machine\n"
    )
    assert not (tmp_path / "generated").exists()


def test_a_node_that_cannot_start(
    trainyard: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Reported as what the machine lacks: it is no fault of Trainyard."""
    monkeypatch.setenv("JSII_RUNTIME", "/nowhere/node")
    done = trainyard("compile", FOLDER / "starter.yaml", "-o", tmp_path / "generated")
    assert done.code == 2
    assert done.err.startswith("trainyard: cdk8s has failed: ")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (
            "raise OSError(24, 'Too many open files')",
            "cdk8s has failed: too many open files; `ulimit -n 256` is enough",
        ),
        (
            "raise MemoryError",
            "cdk8s has failed: not enough memory; it takes about 1 GiB of address space",
        ),
        (
            "raise OSError(28, 'No space left on device')",
            "cdk8s has failed: no space left in the folder for temporary files",
        ),
        (
            "raise RuntimeError('spawnSync node EAGAIN')",
            "cdk8s has failed: too many processes (`ulimit -u`)",
        ),
        (
            "import os; os.kill(os.getpid(), 9)",
            "cdk8s was killed (signal 9); are there enough memory and open files",
        ),
        (
            "import time; time.sleep(60)",
            "cdk8s did not answer within 1 seconds; are there enough memory and open files",
        ),
    ],
)
def test_what_the_machine_lacks_is_no_fault_of_ours(
    program: str, reason: str, trainyard: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Open files, memory, disk, processes; a child that is killed, or hangs."""
    broken = tmp_path / "chart.py"
    broken.write_text(f"{program}\n")
    monkeypatch.setattr(synthesis, "_PROGRAM", broken)
    monkeypatch.setattr(synthesis, "PATIENCE", 1.0 if "sleep" in program else 60.0)
    done = trainyard("compile", FOLDER / "starter.yaml", "-o", tmp_path / "generated")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"trainyard: {reason}")
    assert not (tmp_path / "generated").exists()


def test_a_node_that_hangs_is_ended_too() -> None:
    """The whole group of the process: a Node that hangs does not notice that its input has ended."""
    with Synthesis() as running:
        group = running.start().pid
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


def test_runs_without_a_change_start_nothing(
    trainyard: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec, output = FOLDER / "starter.yaml", tmp_path / "generated"
    assert trainyard("compile", spec, "-o", output).code == 0

    def refuse(_: Synthesis) -> None:
        raise AssertionError("cdk8s is not needed here")

    monkeypatch.setattr(Synthesis, "start", refuse)
    assert trainyard("check", spec).code == 0
    assert trainyard("compile", spec, "-o", output).code == 0
    assert trainyard("compile", "--check", spec, "-o", output).code == 0
    assert trainyard("compile", "--check", spec, "-o", tmp_path / "other").code == 3


def test_equal_objects_are_made_once(cdk8s: Synthesis) -> None:
    """Clusters of a fleet share most of theirs."""
    manifests = manifests_of(spec())
    cdk8s.take(manifests)
    taken = len(cdk8s._digests)
    cdk8s.take([*manifests, *manifests])
    # eksctl reads its ClusterConfig itself.
    assert len(cdk8s._digests) == taken == len(manifests) - 1
    assert cdk8s.differing() == []
    assert not cdk8s.busy


def test_who_else_may_write_to_a_cache_of_jsii(tmp_path: Path) -> None:
    from trainyard.output.lowering.chart import is_private

    own = tmp_path / "own"
    assert is_private(own)
    assert own.is_dir()
    own.chmod(0o770)
    assert not is_private(own)
    assert not is_private(own / "below")
    own.chmod(0o1777)
    assert is_private(own)
    assert not is_private(Path("/proc/none/cache"))
    assert not is_private(Path("relative"))
    assert not Path("relative").exists()
    if os.getuid() == 0:
        os.chown(own, 12345, 12345)
        assert not is_private(own)
