"""Reads a revision of the repository, by git itself; nothing in the repository is changed, and nothing that its
configuration names is run.

Sources: git 2.39, git-rev-parse, git-merge-base, git-ls-tree, git-cat-file (``--batch``).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from trainyard.disk.inputs import MAX_BYTES
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error

_LINK, _FILE, _PROGRAM = "120000", "100644", "100755"
_REMOTE = "refs/remotes/origin"
_USUAL = ("main", "master")
_SHORT = 12  # characters of a commit that are shown
_MISSING = "BAD"  # the size of an object that is not there
_OUTSIDE = frozenset({"", ".", "..", ".git"})
_SECONDS = 120.0
"""Longer than git takes to list a large repository. Where its configuration includes a pipe, it waits without end."""
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # what was committed, and not what stands in for it here
    "GIT_NO_LAZY_FETCH": "1",  # git 2.45; in older ones no protocol is allowed, of no remote
    "GIT_ALLOW_PROTOCOL": "",
}
"""A repository may be anybody's. Of a partial clone git asks the remote for what is missing, and starts what the
configuration names for that: a helper, ``uploadpack``, a command of ssh (git 2.39, git-config, protocol.allow)."""
_OPTIONS = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "--no-pager")


class BaseError(Exception):
    """Why there is nothing to compare with; ``diagnostic`` is for the user."""

    def __init__(self, code: str, message: str, help: str, notes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostic: Diagnostic = error(code, message, help=help, notes=notes)


class Base(NamedTuple):
    """A revision to compare with: its commit, what people call it, and the root of its repository."""

    commit: str
    name: str
    root: Path

    @property
    def short(self) -> str:
        """The beginning of its commit."""
        return self.commit[:_SHORT]

    def __str__(self) -> str:
        return f"{self.name} ({self.short})"


class Repository:
    """The repository around a folder. Raises ``BaseError`` where there is none, or no git."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        done = self._run("rev-parse", "--show-toplevel")
        if done.returncode:
            raise BaseError(
                "PLN002",
                f"`{folder}` is in no repository that git reads",
                "run it in the repository that Flux reads; without git, `trainyard report --against DIR` compares with "
                "a folder",
                _said(done),
            )
        self.root = Path(os.fsdecode(done.stdout).rstrip("\n"))

    def base(self, ref: str | None) -> Base:
        """The revision that is asked for, or the last one that the working tree shares with the default branch."""
        if ref is not None:
            return Base(self._commit(ref), ref, self.root)
        branch = self._default_branch()
        if branch is None:
            return Base(self._commit("HEAD"), "HEAD", self.root)
        done = self._run("merge-base", "HEAD", branch)
        if done.returncode:
            raise BaseError(
                "PLN004",
                f"HEAD and `{branch}` share no commit that is here",
                f"`git fetch --unshallow` in a shallow clone; or compare with the branch itself: `--base {branch}`",
                _said(done),
            )
        return Base(_word(done), f"the merge base with {branch}", self.root)

    def _default_branch(self) -> str | None:
        """The branch that is merged into: what the remote says, or a usual name; ``None`` without a remote."""
        done = self._run("symbolic-ref", "--quiet", "--short", f"{_REMOTE}/HEAD")
        if done.returncode == 0:
            return _word(done)
        for name in _USUAL:
            known = self._run("rev-parse", "--verify", "--quiet", f"{_REMOTE}/{name}")
            if known.returncode == 0:
                return f"origin/{name}"
        if self._run("remote").stdout.strip():
            raise BaseError(
                "PLN004",
                "which branch this is merged into is not known here",
                "`git fetch origin BRANCH:refs/remotes/origin/BRANCH`, and `--base origin/BRANCH`",
            )
        return None

    def _commit(self, ref: str) -> str:
        done = None
        if ref and not ref.startswith("-"):
            done = self._run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if done is None or done.returncode:
            raise BaseError(
                "PLN003",
                f"`{ref}` is no revision of this repository",
                "a branch, tag or commit as `git log` shows it; `git fetch origin BRANCH` brings one that is not here",
            )
        return _word(done)

    def copy(self, commit: str, folders: Iterable[Path], into: Path) -> None:
        """Write the files that a commit has in some folders of the repository into another folder, at their paths from
        the root. Files over ``MAX_BYTES``, which no pass reads, and submodules are left out."""
        inside = sorted({_inside(folder, self.root) for folder in folders})
        listed = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", *inside)
        self._require(listed, commit)
        files = list(_files(listed.stdout))
        wanted = b"".join(f"{file.blob}\n".encode() for file in files)
        read = self._run("cat-file", "--batch", input=wanted)
        self._require(read, commit)
        for file, data in zip(files, _contents(read.stdout), strict=True):
            if data is None:
                raise BaseError(
                    "PLN005",
                    f"`{file.path}` of {commit[:_SHORT]} is not here",
                    "`git fetch --refetch --no-filter` where the clone is partial; `git fsck` says what is broken",
                )
            _write(into / file.path, file.mode, data)

    def _require(self, done: subprocess.CompletedProcess[bytes], commit: str) -> None:
        if done.returncode:
            raise BaseError(
                "PLN005",
                f"git cannot read {commit[:_SHORT]}",
                "`git fsck` says what is broken; a fresh clone has it whole",
                _said(done),
            )

    def _run(self, *words: str, input: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        environment = {**os.environ, **_ENVIRONMENT}
        command = ["git", "-C", os.fspath(self._folder), *_OPTIONS, *words]
        try:
            return subprocess.run(  # noqa: S603 - words of ours; a revision never begins with `-`
                command,
                input=input,
                stdin=subprocess.DEVNULL if input is None else None,
                capture_output=True,
                env=environment,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BaseError(
                "PLN005",
                f"git does not answer in {_SECONDS:g} seconds",
                "a fresh clone has no configuration of others; `git fsck` says what is broken",
            ) from None
        except FileNotFoundError:
            raise BaseError(
                "PLN001",
                "git is not installed, or not on the PATH",
                "install git; without it, `trainyard report --against DIR` compares with a folder",
            ) from None


def _inside(folder: Path, root: Path) -> str:
    """The path of a folder from the root of the repository."""
    real = Path(os.path.realpath(folder))
    try:
        return real.relative_to(os.path.realpath(root)).as_posix()
    except ValueError:
        raise BaseError(
            "PLN002",
            f"`{folder}` is outside of the repository `{root}`",
            "run it in the repository that Flux reads, with specs and output in it",
        ) from None


class _File(NamedTuple):
    mode: str
    blob: str
    path: str


def _files(listing: bytes) -> Iterator[_File]:
    """The files of ``ls-tree -z -l``: mode, type, object, size and path of each."""
    for entry in listing.split(b"\0"):
        head, _, path = entry.partition(b"\t")
        words = head.decode().split()
        if not words or words[0] not in (_LINK, _FILE, _PROGRAM):
            continue
        mode, _, blob, size = words
        name = os.fsdecode(path)
        is_small = size == _MISSING or int(size) <= MAX_BYTES
        if is_small and _OUTSIDE.isdisjoint(name.split("/")):
            yield _File(mode, blob, name)


def _contents(batch: bytes) -> Iterator[bytes | None]:
    """The contents of ``cat-file --batch``, in order; ``None`` for one that is missing."""
    start = 0
    while start < len(batch):
        end = batch.index(b"\n", start)
        words = batch[start:end].split()
        start = end + 1
        if words[-1] == b"missing":
            yield None
            continue
        size = int(words[-1])
        yield batch[start : start + size]
        start += size + 1


def _write(path: Path, mode: str, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == _LINK:
        path.symlink_to(os.fsdecode(data))
    else:
        path.write_bytes(data)


def _word(done: subprocess.CompletedProcess[bytes]) -> str:
    return os.fsdecode(done.stdout).strip()


def _said(done: subprocess.CompletedProcess[bytes]) -> tuple[str, ...]:
    """What git said, as notes."""
    lines: Sequence[str] = done.stderr.decode(errors="replace").splitlines()
    said = [line for line in lines if line.strip()]
    return tuple(f"git: {line}" for line in said[:3])
