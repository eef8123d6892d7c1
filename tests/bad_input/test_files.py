"""Files and folders that cannot be read: what is told, and that nothing is written."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
from pathlib import Path

import pytest
from running import SPECS, Command


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


def _link_to_itself(folder: Path) -> None:
    (folder / "spec.yaml").symlink_to("spec.yaml")


CASES = [
    (_missing, "YML020", None, "no file `spec.yaml`"),
    (_empty, "YML019", 1, "`spec.yaml` has no content"),
    (_only_comments, "YML019", 1, "`spec.yaml` has no content"),
    (_binary, "YML017", 1, "`spec.yaml` is binary"),
    (_utf16, "YML016", None, "`spec.yaml` is UTF-16, not UTF-8"),
    (_latin1, "YML016", 1, "`spec.yaml` is not UTF-8"),
    (_empty_folder, "YML040", None, "no YAML file in `spec.yaml`"),
    (_folder_without_specs, "YML040", None, "no YAML file in `spec.yaml`"),
    (_device, "YML023", None, "`spec.yaml` is larger than 64 MiB"),
    (_link_to_itself, "YML022", None, "cannot read `spec.yaml`: too many levels of symbolic links"),
]


@pytest.mark.parametrize(("make", "code", "line", "fact"), CASES, ids=lambda each: getattr(each, "__name__", None))
@pytest.mark.parametrize("command", ["check", "compile"])
def test_unreadable_input(make: object, code: str, line: int | None, fact: str, command: str, trainyard: Command,
                          tmp_path: Path) -> None:
    """One finding, exit code 2, and no output folder."""
    make(tmp_path)  # type: ignore[operator]
    done = trainyard(command, "--format", "json", "spec.yaml", cwd=tmp_path)
    (found,) = json.loads(done.out)["diagnostics"]
    assert (found["code"], found["message"], (found["place"] or {}).get("line")) == (code, fact, line)
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
    assert "error[YML022]: cannot read `spec.yaml`: no such device or address" in done.out
    assert "help: check its owner and mode" in done.out
    assert done.code == 2


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
    assert (found["code"], found["message"]) == ("YML022", "cannot read `specs/locked`: permission denied")
    assert done.code == 2


def test_policies_that_may_not_be_read(trainyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No spec passes rules that nobody could read; and the fault is none of ours."""
    (tmp_path / "policies" / "org").mkdir(parents=True)
    shutil.copy(SPECS / "starter.yaml", tmp_path / "spec.yaml")
    _locked(monkeypatch, "org")
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (2, "", "trainyard: permission denied: `policies/org`\n")
    assert "(test_files.py:" in trainyard("check", "-v", "spec.yaml", cwd=tmp_path).err


@pytest.mark.parametrize("command", ["check", "compile", "lint"])
def test_every_unreadable_file_is_told_at_once(command: str, trainyard: Command, tmp_path: Path) -> None:
    """Not the first one only."""
    _binary(tmp_path)
    done = trainyard(command, "spec.yaml", "gone.yaml", cwd=tmp_path)
    assert "error[YML017]" in done.out
    assert "error[YML020]: no file `gone.yaml`" in done.out
    assert done.code == 2
