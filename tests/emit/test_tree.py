"""The output tree: owned, whole or untouched, and never harmful to what others wrote."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from trainyard.output.emit import MANIFEST, swap
from trainyard.output.emit.marker import is_marked, marked
from trainyard.output.emit.tree import TreeDiff, diff, write


def owned(**files: str) -> dict[str, bytes]:
    """Files that are ours; ``__`` in a name stands for a folder."""
    data = {name.replace("__", "/"): text.encode() for name, text in files.items()}
    return {path: marked(path, text) for path, text in (data | {MANIFEST: b"{\n}\n"}).items()}


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def codes(done: TreeDiff) -> list[str]:
    assert all(item.help for item in done.diagnostics)
    return [item.code for item in done.diagnostics]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "generated" / "seoul"


OLD = owned(a="1", b="2", x__c="3", x__y__d="4", z__e="5")
NEW = owned(a="1", b="changed", x__c="3", x__new="6", w__v__u="7")


def test_a_first_write_makes_the_tree(root: Path) -> None:
    done = write(root, OLD)
    assert (codes(done), done.stale, done.added) == ([], True, tuple(sorted(OLD)))
    assert tree(root) == OLD
    assert os.listdir(root.parent) == ["seoul"]


def test_a_second_write_changes_removes_and_keeps(root: Path) -> None:
    write(root, OLD)
    before = (root / "a").stat()
    done = write(root, NEW)
    assert (done.added, done.changed, done.removed, done.unchanged, done.diagnostics) == (
        ("w/v/u", "x/new"),
        ("b",),
        ("x/y/d", "z/e"),
        (MANIFEST, "a", "x/c"),
        (),
    )
    assert tree(root) == NEW
    assert not (root / "z").exists()
    assert not (root / "x" / "y").exists()
    after = (root / "a").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert os.listdir(root.parent) == ["seoul"]


def test_an_unchanged_tree_is_not_touched(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, OLD)
    before = _identities(root)
    monkeypatch.setattr(swap, "replace", None)
    done = write(root, OLD)
    assert not done.stale
    assert _identities(root) == before


def _identities(root: Path) -> list[tuple[Path, int, int]]:
    return [
        (path, path.lstat().st_ino, path.lstat().st_mtime_ns)
        for path in [root.parent, *root.rglob("*"), root]
    ]


def test_diff_tells_the_same_and_writes_nothing(root: Path) -> None:
    assert diff(root, OLD).added == tuple(sorted(OLD))
    assert not root.parent.exists()
    write(root, OLD)
    reported = diff(root, NEW)
    assert tree(root) == OLD
    assert reported == write(root, NEW)
    assert not diff(root, NEW).stale


def test_a_foreign_file_is_kept_and_named(root: Path) -> None:
    write(root, OLD)
    (root / "x" / "mine").write_text("m")
    (root / "z" / "mine").write_text("m")
    before = (root / "z" / "mine").stat()
    done = write(root, NEW)
    assert (codes(done), done.foreign) == (["OUT006", "OUT006"], ("x/mine", "z/mine"))
    assert tree(root) == NEW | {"x/mine": b"m", "z/mine": b"m"}
    assert (root / "z" / "mine").stat().st_ino == before.st_ino


@pytest.mark.parametrize(
    "make",
    [
        lambda root: (root / "w").write_text("file where a folder must be"),
        lambda root: (root / "x" / "new").write_text("other content"),
        lambda root: ((root / "x" / "new").mkdir(), (root / "x" / "new" / "f").write_text("f")),
        lambda root: (root / "x" / "new").symlink_to("../a"),
        lambda root: (root / "w").symlink_to("/tmp"),
        lambda root: os.mkfifo(root / "x" / "new"),
    ],
)
def test_a_foreign_entry_in_the_way_stops_the_write(
    root: Path, make: Callable[[Path], object]
) -> None:
    write(root, OLD)
    make(root)
    before = {path: path.lstat().st_ino for path in root.rglob("*")}
    done = write(root, NEW)
    assert "OUT005" in codes(done)
    assert done.failed
    assert {path: path.lstat().st_ino for path in root.rglob("*")} == before


def test_a_foreign_file_with_the_same_content_is_adopted(root: Path) -> None:
    write(root, OLD)
    (root / "x" / "new").write_bytes(NEW["x/new"])
    assert codes(write(root, NEW)) == []
    assert codes(write(root, owned(a="1"))) == []
    assert tree(root) == owned(a="1")


def test_edits_of_our_files_are_overwritten(root: Path) -> None:
    """They still say whose they are."""
    write(root, OLD)
    for path in ("b", "x/y/d"):
        (root / path).write_bytes(OLD[path] + b"edited")
    assert codes(write(root, NEW)) == []
    assert tree(root) == NEW


@pytest.mark.parametrize(
    "text",
    [
        "<<<<<<< HEAD\n{line}\n1\n=======\n{line}\n2\n>>>>>>> theirs\n",
        "{line}\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> x\n",
        "<<<<<<< HEAD:other\n# Written by trainyard, edit the spec instead: other\n=======\n{line}\n>>>>>>> theirs\n",
        "{line}\r\n1\r\n",
        "{line}",
    ],
)
@pytest.mark.parametrize("path", ["b", "z/e"])
def test_files_of_ours_with_marks_of_a_merge_are_known(root: Path, path: str, text: str) -> None:
    """One that is wanted is written anew, one that is not is removed."""
    write(root, OLD)
    line = marked(path, b"").decode().removesuffix("\n")
    (root / path).write_bytes(text.format(line=line).encode())
    assert codes(write(root, NEW)) == []
    assert tree(root) == NEW


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1",
        marked("b", b"1")[:-3],
        b"\n" * 9 + marked("b", b"2"),
        marked("a", b"1"),
        b" " * 5000 + marked("b", b"2"),
    ],
)
def test_a_file_that_does_not_say_so_is_not_ours(root: Path, data: bytes) -> None:
    """Neither is a copy of one of ours under another name."""
    write(root, OLD)
    (root / "b").write_bytes(data)
    assert codes(write(root, NEW)) == ["OUT005"]
    assert (root / "b").read_bytes() == data


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"files": 1}', "[" * 100_000, "\xff", "<<<<<<< HEAD\n{}\n"]
)
def test_a_manifest_that_is_broken_or_gone_is_made_anew(root: Path, text: str) -> None:
    """Nothing depends on it."""
    write(root, OLD)
    (root / MANIFEST).write_bytes(text.encode("latin-1"))
    assert codes(write(root, NEW)) == []
    assert tree(root) == NEW
    (root / MANIFEST).unlink()
    assert codes(write(root, NEW)) == []
    assert tree(root) == NEW


def test_a_folder_of_an_older_trainyard_is_taken_over(root: Path) -> None:
    """It listed its files with their digests; one that was edited since may be somebody's work."""
    files = {"a": b"1", "z/e": b"5", "x/c": b"3"}
    listed = {path: sha256(data).hexdigest() for path, data in files.items()}
    for path, data in {**files, MANIFEST: json.dumps({"files": listed}).encode()}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    (root / "x/c").write_bytes(b"edited")
    done = write(root, owned(a="1"))
    assert (done.changed, done.removed, done.foreign) == ((MANIFEST, "a"), ("z/e",), ("x/c",))


def test_a_list_of_files_that_is_none_makes_no_file_ours(root: Path) -> None:
    root.mkdir(parents=True)
    (root / "a").write_bytes(b"1")
    (root / MANIFEST).write_text('{"files": ["a"]}')
    assert codes(write(root, owned(a="2"))) == ["OUT005"]
    assert (root / "a").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("b", "# Written by trainyard, edit the spec instead: b\n1\n"),
        ("z/n.md", "<!-- Written by trainyard, edit the spec instead: z/n.md -->\n1\n"),
        (
            "z/n.tf.json",
            '{\n "//": "Written by trainyard, edit the spec instead: z/n.tf.json",\n "a": 1\n}\n',
        ),
        (
            "b",
            "<<<<<<< HEAD\n# Written by trainyard, edit the spec instead: b\n=======\n1\n>>>>>>> x\n",
        ),
    ],
)
def test_files_with_the_earlier_line_are_ours(root: Path, path: str, text: str) -> None:
    """Until 2026-11 the line said less; a copy under another name was not ours then either."""
    write(root, OLD)
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_text(text)
    assert not is_marked(f"copy-of-{path}", text.encode())
    assert codes(write(root, NEW)) == []
    assert tree(root) == NEW


def test_the_line_names_the_file_and_what_to_edit() -> None:
    """The path is that of the written file, not of the spec."""
    assert marked("queues/a.yaml", b"") == (
        b"# Written by trainyard as queues/a.yaml."
        b" Do not edit: edit the spec, then run `trainyard compile`.\n"
    )


@pytest.mark.parametrize(
    ("path", "data"),
    [("jobs/a.yaml", b"kind: X\n"), ("README.md", b"# A\n"), ("runs/a.json", b'{\n "a": 1\n}\n')],
)
def test_the_mark_is_a_comment_or_a_key(path: str, data: bytes) -> None:
    """It holds its path, and no other file may have it."""
    found = marked(path, data)
    assert is_marked(path, found)
    assert not is_marked(f"copy-of-{path}", found)
    assert not is_marked(path, data)
    if path.endswith(".json"):
        assert json.loads(found) == {"trainyard.dev/file": path, "a": 1}
    else:
        assert found.endswith(b"\n" + data)


def test_json_without_a_first_line_for_the_mark_is_our_own_fault() -> None:
    with pytest.raises(ValueError, match="not an object over several lines"):
        marked("runs/a.json", b'{"a": 1}\n')


def test_a_manifest_cannot_claim_what_lies_outside(root: Path) -> None:
    write(root, OLD)
    (root.parent / "victim").write_text("v")
    (root / MANIFEST).write_text(
        json.dumps({"files": {"../victim": "", "/etc/hostname": "", "a": ""}})
    )
    write(root, owned(q="1"))
    assert (root.parent / "victim").read_text() == "v"


def test_links_are_kept_and_never_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("f")
    write(root, OLD)
    (root / "b").unlink()
    (root / "link").symlink_to(outside)
    (root / "dangling").symlink_to("nowhere")
    done = write(root, owned(a="1"))
    assert set(done.foreign) == {"dangling", "link"}
    assert os.readlink(root / "link") == str(outside)
    assert os.readlink(root / "dangling") == "nowhere"
    assert (outside / "f").read_text() == "f"


def test_a_root_that_is_a_link_or_a_file_is_refused(root: Path, tmp_path: Path) -> None:
    root.parent.mkdir()
    (tmp_path / "elsewhere").mkdir()
    root.symlink_to(tmp_path / "elsewhere")
    assert codes(write(root, OLD)) == codes(diff(root, OLD)) == ["OUT003"]
    root.unlink()
    root.write_text("file")
    assert codes(write(root, OLD)) == codes(diff(root, OLD)) == ["OUT003"]
    assert codes(write(root / "below", OLD)) == ["OUT003"]
    assert codes(write(root / "far" / "below", OLD)) == ["OUT003"]
    assert root.read_text() == "file"


@pytest.mark.parametrize(
    ("code", "want"), [(errno.ENOSPC, "OUT002"), (errno.EACCES, "OUT001"), (errno.EROFS, "OUT001")]
)
def test_a_fault_of_the_disk_leaves_the_old_tree(
    root: Path, monkeypatch: pytest.MonkeyPatch, code: int, want: str
) -> None:
    write(root, OLD)

    def fail(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fail)
        assert codes(write(root, NEW)) == [want]
    assert tree(root) == OLD
    assert os.listdir(root.parent) == ["seoul"]


def test_a_folder_without_permission_is_left_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, OLD)
    if os.geteuid() == 0:  # root passes every mode
        monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("x"))
    else:
        (root / "x").chmod(0o555)
    done = write(root, NEW)
    assert codes(done) == ["OUT001"]
    assert f"`{root / 'x'}`" in done.diagnostics[0].message
    assert tree(root) == OLD


def test_modes_of_folders_are_kept(root: Path) -> None:
    write(root, OLD)
    (root / "x").chmod(0o750)
    root.chmod(0o710)
    write(root, NEW)
    assert ((root / "x").stat().st_mode & 0o777, root.stat().st_mode & 0o777) == (0o750, 0o710)


def test_a_file_of_ours_becomes_a_folder_and_a_file_again(root: Path) -> None:
    """The folder has no mode of the file: nobody could enter it."""
    write(root, OLD)
    (root / "a").chmod(0o600)
    folder = owned(a__b="1")
    assert codes(write(root, folder)) == []
    assert tree(root) == folder
    assert (root / "a").stat().st_mode & 0o100
    assert codes(write(root, OLD)) == []
    assert tree(root) == OLD


def test_a_second_run_at_the_same_time_is_refused(root: Path) -> None:
    write(root, OLD)
    ready, ready_end = os.pipe()
    go, go_end = os.pipe()
    child = os.fork()
    if child == 0:
        with swap.locked(root.parent):
            os.write(ready_end, b"x")
            os.read(go, 1)
        os._exit(0)
    os.read(ready, 1)
    try:
        assert codes(write(root, NEW)) == ["OUT004"]
        assert tree(root) == OLD
    finally:
        os.write(go_end, b"x")
        os.waitpid(child, 0)
    assert codes(write(root, NEW)) == []
    for end in (ready, ready_end, go, go_end):
        os.close(end)


def test_no_links_means_copies(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, OLD)
    (root / "link").symlink_to("a")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    write(root, NEW)
    assert tree(root) == NEW | {"link": NEW["a"]}
    assert (root / "link").is_symlink()


CALLS = ["mkdir", "link", "open", "write", "fsync", "chmod", "rename", "unlink", "rmdir", "scandir"]


def _die_at(number: int, exchange: bool) -> None:
    """Kill this process, for real, just before its ``number``-th call that could matter; writes are torn in two."""
    count = 0

    def counted(call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == number:
                if name == "write":
                    call(args[0], args[1][: len(args[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **kwargs)

        return wrapper

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name), name))
    swap.exchange = counted(swap.exchange if exchange else lambda *_: False, "exchange")


def _write_in_child(root: Path, files: Mapping[str, bytes], number: int, exchange: bool) -> bool:
    """Whether the child was killed."""
    child = os.fork()
    if child == 0:
        try:
            _die_at(number, exchange)
            os._exit(0 if write(root, files).stale else 2)
        finally:
            os._exit(3)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


@pytest.mark.slow
@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "two-renames"])
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_a_kill_at_any_point_leaves_the_old_or_the_new_tree(
    tmp_path: Path, exchange: bool, first: bool
) -> None:
    if exchange and not _can_exchange(tmp_path):
        pytest.skip("this file system cannot exchange two folders")
    foreign = {} if first else {"x/mine": b"m"}
    old, new = ({} if first else OLD | foreign), NEW | foreign
    seen: set[str] = set()
    number = 0
    while True:
        number += 1
        root = tmp_path / str(number) / "seoul"
        root.parent.mkdir()
        if not first:
            write(root, OLD)
            (root / "x" / "mine").write_bytes(b"m")
        killed = _write_in_child(root, NEW, number, exchange)
        missing = not first and not root.exists()
        assert not (missing and exchange)
        left = old if missing else tree(root)
        assert left in (old, new), f"killed at call {number}: neither old nor new"
        seen.add("missing" if missing else "new" if left == new else "old")
        assert codes(write(root, NEW)) == ([] if first else ["OUT006"])
        assert tree(root) == new
        assert os.listdir(root.parent) == ["seoul"]  # no staging folder, no lock file
        shutil.rmtree(root.parent)
        if not killed:
            break
    assert number > 20
    assert {"old", "new"} <= seen
    assert ("missing" in seen) == (not exchange and not first)


def test_a_kill_between_two_renames_is_repaired_by_the_next_run(root: Path) -> None:
    write(root, OLD)
    new, old = swap.staging(root)
    root.rename(old)
    new.mkdir()
    with swap.locked(root.parent):
        swap.recover(root)
    assert tree(root) == OLD
    assert os.listdir(root.parent) == ["seoul"]


def _can_exchange(folder: Path) -> bool:
    (folder / "p").mkdir()
    (folder / "q").mkdir()
    try:
        return swap.exchange(folder / "p", folder / "q")
    finally:
        (folder / "p").rmdir()
        (folder / "q").rmdir()


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../b", "a//b", "./a", "a/"])
def test_a_path_that_leaves_the_tree_is_our_own_fault(root: Path, path: str) -> None:
    with pytest.raises(ValueError, match="not a relative path"):
        write(root, {path: b""})
    with pytest.raises(ValueError, match="file and a folder"):
        write(root, {"a": b"", "a/b": b""})
