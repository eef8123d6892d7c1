"""The cache: what earlier runs reported, as JSON in the user's cache folder. A broken cache never fails a run.

An entry is a line with a digest, and JSON. One that is cut off, edited, or written for another question is as if it
were not there; so is one that another user owns or may write. A folder that cannot be read or written holds nothing.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.disk.inputs import digest, signature

FOLDER = "runs.1"
"""The folder of entries. Folders of clusters are next to it; their names have no dots. The number is the version
of the form of entries."""
VARIABLE = "TRAINYARD_CACHE_DIR"
LIMIT = 64 << 20
"""Bytes of all entries; the oldest go first. One of 100 clusters takes half a MiB."""
_LARGEST = LIMIT // 4
_KEPT = 3 / 4  # of the limit, where something goes
_DAY = 86_400
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_IGNORE = "# Trainyard's: what earlier runs said. It may be removed at any time.\n*\n"


def default_folder(environment: Mapping[str, str]) -> str:
    """Where entries are kept unless an option says otherwise."""
    named = environment.get(VARIABLE, "")
    if named:
        return named
    caches = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):  # as its specification has it
        caches = os.path.expanduser("~/.cache")
    return os.path.join(caches, "trainyard")


def builtin_policies() -> str:
    """Where the built-in rules are: inside the installed package, or ``policies/`` of the repository."""
    inside = os.path.join(_PACKAGE, "_policies")
    if os.path.isdir(inside):
        return inside
    repository = os.path.dirname(os.path.dirname(_PACKAGE))
    return os.path.join(repository, "policies")


class Cache:
    """The entries of a folder, by question: any value of JSON."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.join(folder, FOLDER)
        self._program = ""

    @property
    def program(self) -> str:
        """A digest of all that answers: the compiler with its rules and facts, the packages, Python."""
        if not self._program:
            parts = [_compiler(self), *_packages(), sys.implementation.name, sys.version]
            parts += [sys.platform, sys.getfilesystemencoding(), str(sys.flags.optimize)]
            self._program = digest("\n".join(parts).encode())
        return self._program

    def get(self, question: object) -> Any:
        """What was kept for a question; ``None`` for nothing that can be trusted."""
        name = _name(question)
        try:
            if not _is_own(os.lstat(self.folder), stat.S_ISDIR):
                return None
            data = self._read(name)
            head, _, text = data.partition(b"\n")
            if head.decode() != digest(name.encode() + text):
                return None
            return json.loads(text)
        except (OSError, ValueError, RecursionError):
            return None

    def _read(self, name: str) -> bytes:
        path = os.path.join(self.folder, name)
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            status = os.fstat(handle)
            if not _is_own(status, stat.S_ISREG) or status.st_size > _LARGEST:
                return b""
            data = os.read(handle, status.st_size + 1)
        finally:
            os.close(handle)
        if status.st_mtime < time.time() - _DAY:
            os.utime(path)  # the oldest by use go first
        return data

    def put(self, question: object, answer: object) -> None:
        """Keep an answer; where that cannot be, nothing happens."""
        name = _name(question)
        text = json.dumps(answer, separators=(",", ":")).encode()
        if len(text) > _LARGEST:
            return
        head = digest(name.encode() + text)
        try:
            self._make_folder()
            self._write(name, head.encode() + b"\n" + text)
        except OSError:
            return

    def _make_folder(self) -> None:
        if os.path.isdir(self.folder):
            return
        os.makedirs(os.path.dirname(self.folder), mode=0o700, exist_ok=True)
        os.mkdir(self.folder, 0o700)
        self._write(".gitignore", _IGNORE.encode())

    def _write(self, name: str, data: bytes) -> None:
        """A file as a whole: another run sees the one before or this one."""
        if not _is_own(os.lstat(self.folder), stat.S_ISDIR):
            return
        path = os.path.join(self.folder, name)
        draft = f"{path}.{os.getpid()}"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with open(handle, "wb", buffering=0) as file:
                written = file.write(data)
            if written == len(data):
                os.replace(draft, path)
        finally:
            if os.path.lexists(draft):
                os.unlink(draft)

    def trim(self, limit: int = LIMIT) -> None:
        """Remove the oldest entries, where all of them are larger than the limit."""
        found = []
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime_ns, entry.path, status.st_size))
            size = sum(each for _, _, each in found)
            if size <= limit:
                return
            for _, path, each in sorted(found):
                if size <= limit * _KEPT:
                    break
                os.unlink(path)
                size -= each
        except OSError:
            return  # another run removes them too


def _name(question: object) -> str:
    text = json.dumps(question, separators=(",", ":"))
    return digest(text.encode())


def _is_own(status: os.stat_result, is_kind: Any) -> bool:
    """Whether a file or folder is of its kind, this user's, and written by nobody else."""
    if not is_kind(status.st_mode) or status.st_mode & _OTHERS_WRITE:
        return False
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def _packages() -> list[str]:
    """The installed packages with their versions, as the names of their folders say them."""
    found: set[str] = set()
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        found.update(name for name in names if name.endswith((".dist-info", ".egg-info")))
    return sorted(found)


def _compiler(cache: Cache) -> str:
    """A digest of every file of the compiler and of the built-in rules. It is computed again where one of them was
    touched, and kept by what would then have changed: 8 MiB take longer than all else of a run that is known."""
    files = []
    for root in (_PACKAGE, builtin_policies()):
        files += sorted(_files(root, ""))
    lines = []
    is_settled = True
    for path, status in files:
        times = signature(status)
        is_settled = is_settled and times is not None
        lines.append(f"{path} {times}")
    question = ["compiler", _PACKAGE, digest("\n".join(lines).encode())]
    if is_settled:
        known = cache.get(question)
        if isinstance(known, str):
            return known
    contents = []
    for root in (_PACKAGE, builtin_policies()):
        for path, _ in sorted(_files(root, "")):
            with open(root + path, "rb", buffering=0) as file:
                contents.append(f"{path} {digest(file.readall())}")
    answer = digest("\n".join(contents).encode())
    if is_settled:
        cache.put(question, answer)
    return answer


def _files(root: str, below: str) -> Iterator[tuple[str, os.stat_result]]:
    """Each file of a folder that may change what is said, by its path in it."""
    with os.scandir(root + below) as entries:
        for entry in entries:
            path = f"{below}/{entry.name}"
            if not entry.is_dir():
                yield path, entry.stat()
            elif entry.name != "__pycache__":
                yield from _files(root, path)
