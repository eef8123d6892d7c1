"""Files and folders that cannot be read: what is reported, and that nothing is written."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import pytest
from running import SPECS, Command, environment

pytestmark = pytest.mark.slow


def _missing(folder: Path) -> None:
    pass


def _empty(folder: Path) -> None:
    (folder / "spec.yaml").write_bytes(b"")


def _only_comments(folder: Path) -> None:
    (folder / "spec.yaml").write_text("# nothing yet\n")


def _binary(folder: Path) -> None:
    (folder / "spec.yaml").write_bytes(b"kind: \x7fELF\x02\x00\x00")


def _utf16(folder: Path) -> None:
    (folder / "spec.yaml").write_text("kind: TrainingCluster\n", encoding="utf-16")


def _latin1(folder: Path) -> None:
    (folder / "spec.yaml").write_bytes("kind: Übung\n".encode("latin-1"))


def _empty_folder(folder: Path) -> None:
    (folder / "spec.yaml").mkdir()


def _folder_without_specs(folder: Path) -> None:
    (folder / "spec.yaml").mkdir()
    (folder / "spec.yaml" / "README.md").write_text("# specs\n")


def _device(folder: Path) -> None:
    (folder / "spec.yaml").symlink_to("/dev/zero")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "spec.yaml")


def _link_to_nothing(folder: Path) -> None:
    (folder / "spec.yaml").symlink_to("../shared/spec.yaml")


def _link_to_itself(folder: Path) -> None:
    (folder / "spec.yaml").symlink_to("spec.yaml")


CASES = [
    (_missing, "YML020", None, "no file `spec.yaml`"),
    (_link_to_nothing, "YML020", None, "`spec.yaml` is a link to what is not there"),
    (_empty, "YML019", 1, "`spec.yaml` has no content"),
    (_only_comments, "YML019", 1, "`spec.yaml` has no content"),
    (_binary, "YML017", 1, "`spec.yaml` is binary"),
    (_utf16, "YML016", None, "`spec.yaml` is UTF-16, not UTF-8"),
    (_latin1, "YML016", 1, "`spec.yaml` is not UTF-8"),
    (_empty_folder, "YML040", None, "no YAML file in `spec.yaml`"),
    (_folder_without_specs, "YML040", None, "no YAML file in `spec.yaml`"),
    (
        _device,
        "YML022",
        None,
        "cannot read `spec.yaml`: it is a device, and only regular files are read",
    ),
    (
        _pipe,
        "YML022",
        None,
        "cannot read `spec.yaml`: it is a pipe, and only regular files are read",
    ),
    (_link_to_itself, "YML022", None, "cannot read `spec.yaml`: too many levels of symbolic links"),
]


@pytest.mark.parametrize(
    ("make", "code", "line", "fact"), CASES, ids=lambda each: getattr(each, "__name__", None)
)
@pytest.mark.parametrize("command", ["check", "compile"])
def test_unreadable_input(
    make: object,
    code: str,
    line: int | None,
    fact: str,
    command: str,
    trainyard: Command,
    tmp_path: Path,
) -> None:
    """One finding, exit code 2, and no output folder."""
    make(tmp_path)  # type: ignore[operator]
    done = trainyard(command, "--format", "json", "spec.yaml", cwd=tmp_path)
    (found,) = json.loads(done.out)["diagnostics"]
    assert (found["code"], found["message"], (found["place"] or {}).get("line")) == (
        code,
        fact,
        line,
    )
    assert found["help"]
    assert done.code == 2
    assert not (tmp_path / "generated").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(trainyard: Command, tmp_path: Path) -> None:
    """The owner's mode counts."""
    (tmp_path / "spec.yaml").write_text("kind: TrainingCluster\n")
    (tmp_path / "spec.yaml").chmod(0)
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert "error[YML022]: cannot read `spec.yaml`: permission denied" in done.out
    assert done.code == 2


def test_a_file_that_cannot_be_opened(trainyard: Command, tmp_path: Path) -> None:
    """A socket: nobody can open it, root neither."""
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tmp_path)  # the path of a socket has at most 107 bytes
        try:
            server.bind("spec.yaml")
        finally:
            os.chdir(here)
        done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert (
        "error[YML022]: cannot read `spec.yaml`: it is a socket, and only regular files are read"
        in done.out
    )
    assert "help: remove it, or name a file instead" in done.out
    assert done.code == 2


@pytest.mark.parametrize(
    "where",
    [
        "specs/pipe.yaml",
        "policies/org/pipe.py",
        "policies/org/pipe.yaml",
        "policies/policy.yaml",
        "policies/exceptions.yaml",
    ],
)
@pytest.mark.parametrize("command", ["check", "lint"])
def test_a_pipe_among_the_files_is_named(
    where: str, command: str, trainyard: Command, tmp_path: Path
) -> None:
    """To open it would wait for a writer, for ever."""
    for folder in ("specs", "policies/org"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(SPECS / "starter.yaml", tmp_path / "specs")
    os.mkfifo(tmp_path / where)
    done = trainyard(command, "--format", "json", "specs", cwd=tmp_path)
    reported = [
        each["message"] for each in json.loads(done.out)["diagnostics"] if each["code"] == "YML022"
    ]
    assert reported == [f"cannot read `{where}`: it is a pipe, and only regular files are read"]
    assert done.code == 2


def test_pipes_in_the_output_hang_nothing(trainyard: Command, tmp_path: Path) -> None:
    """Where Trainyard reads what it wrote before."""
    shutil.copy(SPECS / "starter.yaml", tmp_path / "spec.yaml")
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    for path in sorted((tmp_path / "generated").rglob("*")):
        if path.is_file() and (path.suffix == ".json" or path.parent.name == "queues"):
            path.unlink()
            os.mkfifo(path)
    for command in (
        ("compile", "spec.yaml"),
        ("compile", "--check", "."),
        ("check", "."),
        ("lint", "."),
    ):
        assert trainyard(*command, cwd=tmp_path).code in (1, 2)


def test_what_a_shell_hands_over_is_read(tmp_path: Path) -> None:
    """Standard input as `-`, and process substitution, which is a pipe too."""
    text = (SPECS / "starter.yaml").read_text(encoding="utf-8")
    for path in ("-", "/dev/stdin"):
        done = subprocess.run(
            [sys.executable, "-m", "trainyard", "check", path],
            input=text,
            env=environment(),
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "clean: starter\n")
    text = text.replace("us-west-2a", "us-west-9a")
    done = subprocess.run(
        [sys.executable, "-m", "trainyard", "check", "-", "-"],
        input=text,
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert "--> <stdin>:11:" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize("path", ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_what_a_shell_hands_over_has_no_folder(path: str, tmp_path: Path) -> None:
    """Parts beside it are not its own: `/dev` is no folder of a cluster, and holds all of shared memory."""
    name = f"handed-{uuid.uuid4().hex[:8]}"
    text = (SPECS / "starter.yaml").read_text(encoding="utf-8")
    text = text.replace("name: starter", f"name: {name}")
    broken = f"apiVersion: trainyard.dev/v1alpha1\nkind: TrainingJob\ncluster: {name}\nunknown: 1\n"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as shared_memory:
        for folder in (Path(shared_memory), tmp_path):
            (folder / "queue.yaml").write_text(broken, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "trainyard", "check", path],
            input=text,
            env=environment(),
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"clean: {name}\n")


def test_names_in_capitals_are_taken(trainyard: Command, tmp_path: Path) -> None:
    """As a file of Windows may be called."""
    (tmp_path / "policies" / "org").mkdir(parents=True)
    shutil.copy(SPECS / "starter.yaml", tmp_path / "STARTER.YAML")
    (tmp_path / "policies" / "org" / "RULE.YML").write_text("code: x\n")
    done = trainyard("check", ".", cwd=tmp_path)
    assert "error[POL013]: `x` is no code" in done.out
    (tmp_path / "policies" / "org" / "RULE.YML").unlink()
    assert trainyard("check", ".", cwd=tmp_path).err == "clean: starter\n"


@pytest.mark.parametrize("name", ['"a\\0b"', '"\\u0000"'])
def test_a_base_with_a_zero_byte_in_its_name(name: str, trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(
        f"apiVersion: trainyard.dev/v1alpha1\nkind: TrainingCluster\nextends: {name}\nmetadata: {{name: a}}\n"
    )
    done = trainyard("check", "--format", "json", "spec.yaml", cwd=tmp_path)
    assert "YML037" in done.out
    assert done.code == 1


def _locked(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let a folder of this name not be listed. Root may read everything, so the answer of the system is set here."""
    listed = os.scandir

    def scandir(path: object) -> object:
        if os.path.basename(str(path)) == name:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", scandir)


@pytest.mark.parametrize("command", ["check", "compile", "lint"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_folder_that_may_not_be_read(
    inside: bool, command: str, trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may hold a job: what is left out is not taken for gone."""
    (tmp_path / "specs" / "locked").mkdir(parents=True)
    if inside:
        shutil.copy(SPECS / "starter.yaml", tmp_path / "specs")
    _locked(monkeypatch, "locked")
    done = trainyard(command, "--format", "json", "specs", cwd=tmp_path)
    (found,) = json.loads(done.out)["diagnostics"]
    assert (found["code"], found["message"]) == (
        "YML022",
        "cannot read `specs/locked`: permission denied",
    )
    assert done.code == 2


def test_policies_that_may_not_be_read(
    trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No spec passes rules that nobody could read; and the fault is none of ours."""
    (tmp_path / "policies" / "org").mkdir(parents=True)
    shutil.copy(SPECS / "starter.yaml", tmp_path / "spec.yaml")
    _locked(monkeypatch, "org")
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (
        2,
        "",
        "trainyard: permission denied: `policies/org`\n",
    )
    assert "(test_files.py:" in trainyard("check", "-v", "spec.yaml", cwd=tmp_path).err


@pytest.mark.parametrize("command", ["check", "compile", "lint"])
def test_every_unreadable_file_is_reported_at_once(
    command: str, trainyard: Command, tmp_path: Path
) -> None:
    """Not the first one only."""
    _binary(tmp_path)
    done = trainyard(command, "spec.yaml", "gone.yaml", cwd=tmp_path)
    assert "error[YML017]" in done.out
    assert "error[YML020]: no file `gone.yaml`" in done.out
    assert done.code == 2
