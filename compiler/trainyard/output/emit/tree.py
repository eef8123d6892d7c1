"""The output tree of one cluster: what differs, what is ours, and the write itself."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import stat
from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path

from trainyard.disk.inputs import (
    cannot_repeat,
    entries,
    is_folder,
    is_link,
    read_bytes,
    real_path,
    stands,
)
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import Diagnostic, Severity, error, warning
from trainyard.output.emit import MANIFEST, UNREADABLE, swap
from trainyard.output.emit.marker import is_marked


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """How a folder differs from the files wanted in it. Paths are relative, with ``/``, and sorted.

    ``foreign`` are paths that Trainyard did not write and leaves alone. With an error among the
    diagnostics the tree cannot be written. ``seen``: every file as it was.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    seen: Mapping[str, os.stat_result] = dataclasses.field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def stale(self) -> bool:
        """Whether a write would change anything."""
        return bool(self.added or self.changed or self.removed)

    @property
    def failed(self) -> bool:
        """Whether an error prevents a write."""
        severities = {item.severity for item in self.diagnostics}
        return Severity.ERROR in severities


def diff(root: Path, files: Mapping[str, bytes]) -> TreeDiff:
    """Compare a folder with the files wanted in it; nothing is written. Faults of the disk are diagnostics."""
    _check_paths(files)
    try:
        return _compare(root, files)
    except OSError as fault:
        return TreeDiff(diagnostics=(_failure(root, fault),))


def write(root: Path, files: Mapping[str, bytes], before: TreeDiff | None = None) -> TreeDiff:
    """Make the folder hold the files, whole or not at all, and say what was done.

    With an error among the diagnostics nothing was written. Each of ``files`` should be ``marked``, for the next run
    to know it as ours. Unchanged files keep their inode and times; a tree without any change is not touched.
    ``before``: an earlier comparison with the same files; what was unchanged then, and not touched since, is not read
    again.
    """
    _check_paths(files)
    cannot_repeat()
    try:
        os.makedirs(root.parent, exist_ok=True)
        with swap.locked(root.parent):
            if not root.is_symlink():
                swap.recover(root)
            done = _compare(root, files, before)
            if done.stale and not done.failed:
                written = (*done.added, *done.changed)
                kept = [*done.unchanged, *done.foreign]
                new = {path: files[path] for path in written}
                swap.replace(root, new, kept)
            return done
    except BlockingIOError:
        return TreeDiff(
            diagnostics=(
                error(
                    "OUT004",
                    f"another run is writing next to `{root}`",
                    help="wait until it has ended, then try again",
                ),
            )
        )
    except OSError as fault:
        return TreeDiff(diagnostics=(_failure(root, fault),))


def interrupted(root: Path) -> bool:
    """Whether a killed run left files next to the folder, which the next write removes."""
    return any(map(stands, swap.staging(root)))


def _check_paths(files: Mapping[str, bytes]) -> None:
    """Paths are made by the compiler, so a wrong one is its own fault."""
    for path in files:
        if not _NO_PART.isdisjoint(path.split("/")):
            raise ValueError(f"not a relative path: {path!r}")
        if not files.keys().isdisjoint(_folders(path)):
            raise ValueError(f"a file and a folder at once: {path!r}")


_NO_PART = {"", ".", ".."}


def _folders(path: str) -> list[str]:
    """The folders that a path goes through, the nearest first."""
    folders = []
    folder, slash, _ = path.rpartition("/")
    while slash:
        folders.append(folder)
        folder, slash, _ = folder.rpartition("/")
    return folders


def _failure(root: Path, fault: OSError) -> Diagnostic:
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return error(
            "OUT002", f"no space left to write `{root}`", help="free some space, then try again"
        )
    if isinstance(fault, NotADirectoryError | FileExistsError):
        return error(
            "OUT003",
            f"`{_obstacle(Path(fault.filename or root))}` is not a directory",
            help="move it away, or write elsewhere",
        )
    reason = (fault.strerror or str(fault)).lower()
    return error(
        "OUT001",
        f"cannot write `{fault.filename or root}`: {reason}",
        help="check owner and mode of the folder and of the one that holds it",
    )


def _obstacle(path: Path) -> Path:
    """The part of a path that stands where a directory must: `out` of `out/deeper`, if `out` is a file."""
    for part in (*reversed(path.parents), path):
        if stands(part) and not is_folder(part):
            return part
    return path


def _state(entry: os.stat_result) -> tuple[int, ...]:
    """What changes when a file does."""
    return (entry.st_ino, entry.st_size, entry.st_mtime_ns, entry.st_ctime_ns, entry.st_mode)


@dataclasses.dataclass
class _Comparison:
    """Work in progress of ``_compare``."""

    root: Path
    entries: dict[str, os.stat_result]
    before: TreeDiff

    def is_ours(self, path: str) -> bool:
        """Whether we wrote what stands at a path: a plain file that says so."""
        if not stat.S_ISREG(self.entries[path].st_mode):
            return False
        if path == MANIFEST:
            return True  # nobody else has files of this name, and a merge may leave anything of it
        data = self.read(path)
        if is_marked(path, data):
            return True
        digest = sha256(data).hexdigest()
        return self._listed.get(path) == digest

    def untouched(self, path: str) -> bool:
        """Whether nobody touched a file since the comparison before."""
        seen = self.before.seen[path]
        return _state(self.entries[path]) == _state(seen)

    def read(self, path: str) -> bytes:
        """The content of a file."""
        # Called ten thousand times: no Path.
        return read_bytes(f"{self.root}/{path}")

    @cached_property
    def _listed(self) -> Mapping[str, str]:
        """Digests by path, as Trainyard listed them before its files were marked."""
        try:
            files = json.loads(self.read(MANIFEST))["files"]
        except UNREADABLE:
            return {}
        if isinstance(files, dict):
            return files
        return {}


def _compare(root: Path, files: Mapping[str, bytes], before: TreeDiff | None = None) -> TreeDiff:
    for folder in (root, root.parent):
        if is_link(folder) and (folder == root or is_folder(folder)):
            fault = error(
                "OUT003",
                f"`{folder}` is a symbolic link, not a directory",
                help=f"write to the folder that it names: `--output {real_path(folder)}`",
            )
            return TreeDiff(diagnostics=(fault,))
    entries = {}
    if _stands(root):
        entries = dict(_scan(root, ""))
    state = _Comparison(root, entries, before or TreeDiff())
    known = set(state.before.unchanged)
    added, changed, unchanged = [], [], []
    for path in sorted(files):
        if path not in entries:
            added.append(path)
        elif (path in known and state.untouched(path)) or _holds(state, path, files[path]):
            unchanged.append(path)
        elif state.is_ours(path):
            changed.append(path)
    removed: list[str] = []
    foreign: list[str] = []
    for path in sorted(entries.keys() - files.keys()):
        (removed if state.is_ours(path) else foreign).append(path)
    in_the_way = _in_the_way(files, {*added, *changed, *unchanged}, foreign)
    return TreeDiff(
        tuple(added),
        tuple(changed),
        tuple(removed),
        tuple(unchanged),
        tuple(foreign),
        tuple(_diagnostics(root, in_the_way, foreign)),
        entries,
    )


def _stands(root: Path) -> bool:
    """Whether there is anything at a path; ``OSError`` where there can be nothing, as below a file."""
    if stands(root):
        return True
    obstacle = _obstacle(root)
    if obstacle == root:
        return False
    reason = os.strerror(errno.ENOTDIR)
    raise NotADirectoryError(errno.ENOTDIR, reason, str(obstacle))


def _scan(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below that is not a directory. Links are entries, and not followed."""
    for entry in entries(folder):
        path = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _scan(folder / entry.name, path + "/")
        else:
            yield path, entry.stat(follow_symlinks=False)


def _holds(state: _Comparison, path: str, wanted: bytes) -> bool:
    """Whether the file at a path has the wanted content."""
    entry = state.entries[path]
    if not stat.S_ISREG(entry.st_mode):
        return False
    if entry.st_size != len(wanted):
        return False
    return state.read(path) == wanted


def _in_the_way(files: Mapping[str, bytes], possible: set[str], foreign: list[str]) -> set[str]:
    """Foreign entries at paths of our files and folders."""
    conflicts = files.keys() - possible
    folders = set(chain.from_iterable(map(_folders, files)))
    conflicts |= folders.intersection(foreign)
    for path in foreign:  # a folder that holds it stands where a file of ours must
        if not files.keys().isdisjoint(_folders(path)):
            conflicts.add(path)
    return conflicts


def _diagnostics(root: Path, in_the_way: set[str], foreign: list[str]) -> Iterator[Diagnostic]:
    for path in sorted(in_the_way):
        yield error(
            "OUT005",
            f"`{root / path}` is in the way and was not written by Trainyard",
            help="move it out of the output folder, or remove it; a file of Trainyard's says so in its first line",
        )
    for path in foreign:
        if path not in in_the_way:
            yield warning(
                "OUT006",
                f"`{root / path}` was not written by Trainyard and is left alone",
                help="move it out of the output folder",
            )
