"""The folder of entries: what is trusted, and what happens where nothing can be kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from asking import STARTER, Asker, is_root
from running import environment
from trainyard.disk.cache import Cache
from trainyard.disk.inputs import digest

pytestmark = pytest.mark.slow


def _entry_of_run(asker: Asker) -> Path:
    for path in asker.entries():
        if b'"said"' in path.read_bytes():
            return path
    raise AssertionError("nothing was kept")


def _edited(data: bytes) -> bytes:
    """The answer edited, with a digest that would fit if the entry's name were left out."""
    _, _, text = data.partition(b"\n")
    text = text.replace(b"clean", b"dirty")
    return digest(text).encode() + b"\n" + text


DAMAGE = {
    "cut off": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "edited": lambda data: data.replace(b"clean", b"dirty"),
    "edited with a digest": _edited,
    "no JSON": lambda data: b"\x80\x04K\x01.",
    "no text": lambda data: bytes(range(256)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_entry_is_ignored(asker: Asker, name: str) -> None:
    first = asker.ask("check", "specs")
    entry = _entry_of_run(asker)
    entry.write_bytes(DAMAGE[name](entry.read_bytes()))
    done = asker.ask("check", "specs")
    assert not done.repeated
    assert done == first
    assert asker.ask("check", "specs").repeated


def test_an_entry_under_another_name_is_ignored(asker: Asker) -> None:
    asker.ask("check", "specs")
    asker.ask("check", "specs", "-q")
    one, other = (path for path in asker.entries() if b'"said"' in path.read_bytes())
    text = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(text)
    assert not asker.ask("check", "specs").repeated


def test_what_others_may_write_is_ignored(asker: Asker) -> None:
    asker.ask("check", "specs")
    entry = _entry_of_run(asker)
    entry.chmod(0o666)
    assert not asker.ask("check", "specs").repeated
    (asker.cache / "runs.1").chmod(0o777)
    assert not asker.ask("check", "specs").repeated


@pytest.mark.skipif(not is_root(), reason="only root gives files away")
def test_what_another_user_owns_is_ignored(asker: Asker) -> None:
    asker.ask("check", "specs")
    os.chown(_entry_of_run(asker), 65534, 65534)
    assert not asker.ask("check", "specs").repeated
    assert asker.ask("check", "specs").repeated
    os.chown(asker.cache / "runs.1", 65534, 65534)
    assert not asker.ask("check", "specs").repeated


def test_a_link_is_ignored(asker: Asker, tmp_path: Path) -> None:
    asker.ask("check", "specs")
    entry = _entry_of_run(asker)
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert not asker.ask("check", "specs").repeated


def test_the_folder_is_the_users_alone(asker: Asker) -> None:
    asker.ask("check", "specs")
    assert (asker.cache / "runs.1").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in asker.entries()} == {0o600}


def test_where_nothing_can_be_kept_the_run_goes_on(asker: Asker, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for folder in (tmp_path / "file", "/dev/null", "/proc/nothing", "/dev/full/x"):
        for _ in range(2):
            done = asker.ask("check", "specs", "--cache-dir", folder)
            assert (done.code, done.err) == (0, "clean: starter\n")
            assert not done.repeated


@pytest.mark.skipif(is_root(), reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(asker: Asker) -> None:
    asker.cache.mkdir(mode=0o500)
    assert asker.ask("check", "specs").code == 0
    assert asker.ask("check", "specs").code == 0


def test_a_cache_that_may_only_be_read_still_answers(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(str(asker.cache))
    cache.put("question", "answer")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    cache.put("question", "other")
    cache.put("another", "other")
    assert (cache.get("question"), cache.get("another")) == ("answer", None)
    assert len(asker.entries()) == 1


def test_where_it_is_kept(asker: Asker, tmp_path: Path) -> None:
    unset = {"TRAINYARD_CACHE_DIR": "", "HOME": str(tmp_path / "home")}
    asker.ask("check", "specs", XDG_CACHE_HOME=str(tmp_path / "xdg"), **unset)
    asker.ask("check", "specs", XDG_CACHE_HOME="", **unset)
    asker.ask("check", "specs", "--cache-dir", tmp_path / "named", **unset)
    asker.ask("check", "specs", f"--cache-dir={tmp_path / 'joined'}", **unset)
    for folder in ("xdg/trainyard", "home/.cache/trainyard", "named", "joined"):
        assert (tmp_path / folder / "runs.1").is_dir(), folder
    assert not asker.cache.exists()


@pytest.mark.parametrize("option", ["--no-cache", "--no-cac"])
def test_it_is_switched_off(asker: Asker, option: str) -> None:
    for _ in range(2):
        assert not asker.ask("check", "specs", option).repeated
    assert not asker.cache.exists()


def test_the_oldest_go_first(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path))
    for number in range(20):
        cache.put(number, "x" * 1000)
    for number, path in enumerate(sorted(Path(cache.folder).iterdir(), key=lambda path: path.name)):
        os.utime(path, (number, number))
    for number in (3, 4):
        cache.get(number)  # and so they are used
    cache.trim(limit=10_000)
    assert cache.get(3)
    assert cache.get(4)
    assert sum(path.stat().st_size for path in Path(cache.folder).iterdir()) < 10_000


def test_a_link_has_its_own_size(tmp_path: Path) -> None:
    """What it leads to is not of the cache."""
    cache = Cache(str(tmp_path / "cache"))
    cache.put(1, "x" * 1000)
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    (Path(cache.folder) / "link").symlink_to(tmp_path / "large")
    cache.trim(limit=10_000)
    assert cache.get(1)


def test_two_runs_at_once(asker: Asker) -> None:
    env = environment(TRAINYARD_CACHE_DIR=str(asker.cache))
    command = [sys.executable, "-m", "trainyard", "check", "specs"]
    runs = [
        subprocess.Popen(
            command, cwd=asker.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    said = {(*run.communicate(), run.returncode) for run in runs}
    assert said == {(b"", b"clean: starter\n", 0)}
    assert asker.ask("check", "specs").repeated
    assert not [path for path in (asker.cache / "runs.1").iterdir() if "." in path.name[1:]]


def test_no_code_is_read(asker: Asker) -> None:
    asker.ask("check", "specs")
    for path in asker.entries():
        _, _, text = path.read_bytes().partition(b"\n")
        json.loads(text)


def test_an_edit_while_it_is_read_is_no_answer(tmp_path: Path) -> None:
    from trainyard.disk.inputs import read_bytes, recording

    file = tmp_path / "spec.yaml"
    with recording() as record:
        file.write_text(STARTER)
        read_bytes(file)
        file.write_text("other")
        read_bytes(file)
    assert not record.whole


def test_the_digest_of_the_compiler_is_kept_once_its_files_have_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was touched just now may be written again within the same tick of the clock."""
    package, kept = tmp_path / "compiler" / "trainyard", tmp_path / "cache"
    for folder in (package, tmp_path / "policies", kept):
        folder.mkdir(parents=True)
    (package / "a.py").write_text("a = 1\n")
    monkeypatch.setattr("trainyard.disk.cache._PACKAGE", str(package))
    monkeypatch.setattr("trainyard.disk.inputs._SETTLED", 10**18)
    program = Cache(str(kept)).program
    assert not list(kept.rglob("*"))
    monkeypatch.setattr("trainyard.disk.inputs._SETTLED", 0)
    assert [Cache(str(kept)).program for _ in range(2)] == [program] * 2
    assert list(kept.rglob("*"))
    (package / "a.py").write_text("a = 2\n")
    assert Cache(str(kept)).program != program
