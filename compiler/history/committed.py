"""The committed folder of a cluster: its index, its runs, and its objects as they were written."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from compiler import inputs
from compiler.diagnostics import Diagnostic
from compiler.diagnostics.diagnostic import error
from compiler.emit import MANIFEST, UNREADABLE
from compiler.emit.marker import is_marked, marked
from compiler.emit.yaml import encoded
from compiler.history.runs import SUBMITTED, Run, read_index, read_runs, runs_of_index
from compiler.lowering.body import object_path
from compiler.manifest import Body, Manifest, ref_of
from compiler.places import Route, SourceFile
from compiler.platforms.eks.jobs.heads import JOBS
from compiler.platforms.eks.jobs.kinds import kinds
from compiler.source.parse import parse

_SPEC = Route(("spec",))
_NOT_APPLIED = ("bootstrap", "runs")


class Committed:
    """What an earlier compilation left in a folder; nothing where the folder is not there.

    ``replace``: names of jobs whose last run was never pushed, in the spec or of their objects. ``unreadable``: why
    files could not be read, by their paths.
    """

    def __init__(self, folder: Path, replace: Collection[str] = ()) -> None:
        self._folder = folder
        self._replace = replace
        self.unreadable: dict[str, str] = {}

    @cached_property
    def index(self) -> Mapping[str, Any]:
        """Its ``.manifest.json``."""
        index = read_index(self._folder)
        if not index and self._read(MANIFEST) is not None:
            self.unreadable[MANIFEST] = "it is not what Trainyard wrote"
        return index

    @cached_property
    def _read_runs(self) -> tuple[list[Run], list[str]]:
        return read_runs(self._folder)

    @cached_property
    def _remembered(self) -> list[Run]:
        return self._read_runs[0] or runs_of_index(self.index)

    @cached_property
    def replaced(self) -> list[Run]:
        """The last runs of the jobs that are to be replaced; of earlier runs only those that are named themselves."""
        replaced = []
        for run in self._remembered:
            is_last = run.state == SUBMITTED
            is_meant = is_last and run.job in self._replace
            if is_meant or run.object in self._replace:
                replaced.append(run)
        return replaced

    @cached_property
    def runs(self) -> list[Run]:
        """Every run that it remembers, without those that are to be replaced."""
        replaced = self.replaced
        return [run for run in self._remembered if run not in replaced]

    @property
    def broken_runs(self) -> list[str]:
        """The files of runs that cannot be read."""
        return self._read_runs[1]

    @cached_property
    def latest(self) -> dict[str, list[Run]]:
        """The last run of each job, by the job's name in the spec; several where two branches submitted one each."""
        latest: dict[str, list[Run]] = {}
        runs = sorted(self.runs, key=lambda run: run.order)
        for run in runs:
            known = latest.setdefault(run.job, [])
            if known and known[0].order != run.order:
                known.clear()
            known.append(run)
        return latest

    def holds(self, manifest: Manifest) -> bool:
        """Whether the committed object is exactly as it would be written."""
        text = encoded(manifest.body, manifest.choices)
        content = marked(manifest.path, text)
        return self._read(manifest.path) == content

    def mentions(self, path: str, words: Iterable[str]) -> bool:
        """Whether a file is there and has all of some values, each at the end of a line."""
        content = self._read(path) or b""
        lines = content.decode(errors="replace").splitlines()
        ends = {line.rpartition(" ")[2] for line in lines}
        values = {end.strip("'\"") for end in ends}
        return values.issuperset(words)

    def names(self, folder: str, kind: str) -> list[str]:
        """The objects of a kind without a namespace that we wrote into a folder, by name."""
        prefix = f"{folder}/{kind.lower()}-"
        paths = [
            path
            for path in self._paths_in(folder)
            if path.startswith(prefix) and self._is_ours(path)
        ]
        return [path.removeprefix(prefix).removesuffix(".yaml") for path in paths]

    def forgotten(self) -> list[str]:
        """Jobs that we wrote and of whose run nothing is remembered: by path."""
        if "jobs" in self.index:  # as Trainyard 0.1 remembered them
            return []
        known = {run.committed_path for run in self._remembered}
        for path in self.broken_runs:
            stem = Path(path).stem
            namespace, _, name = stem.partition(".")
            for kind in kinds().values():
                known.add(object_path(JOBS, kind.kind, name, namespace))
        wanted = tuple(f".{kind.kind.lower()}-" for kind in kinds().values())
        forgotten = []
        for path in self._paths_in(JOBS):
            if path in known or not _has_any(path, wanted):
                continue
            if self._is_ours(path):
                forgotten.append(str(self._folder / path))
        return forgotten

    def left_out(self, manifests: Sequence[Manifest]) -> list[Manifest]:
        """The objects that Flux applies from the folder and that are not among those to be written."""
        wanted = {manifest.path for manifest in manifests}
        leaving = []
        for path in self._applied_paths():
            if path in wanted:
                continue
            data = self._read(path)
            if not is_marked(path, data or b""):
                continue
            body = self._body(path, data)
            if body is not None:
                leaving.append(Manifest(body, path))
        return leaving

    def _applied_paths(self) -> list[str]:
        """The files of the folders that Flux reads."""
        paths: list[str] = []
        for folder in sorted(self._entries(self._folder)):
            if folder not in _NOT_APPLIED:
                paths += self._yaml_below(folder)
        return paths

    def _yaml_below(self, folder: str) -> Iterator[str]:
        entries = self._entries(self._folder / folder)
        for name, is_folder in sorted(entries.items()):
            if is_folder:
                yield from self._yaml_below(f"{folder}/{name}")
            elif name.endswith(".yaml"):
                yield f"{folder}/{name}"

    def _entries(self, folder: Path) -> dict[str, bool]:
        """The names in a folder, and whether each is a folder."""
        try:
            found = inputs.entries(folder)
        except OSError:
            return {}
        return {entry.name: entry.is_dir() for entry in found}

    def _body(self, path: str, data: bytes | None) -> Body | None:
        """The object of a file's content; ``None`` where it holds none that can be read."""
        try:
            text = (data or b"").decode()
            documents, _ = parse(SourceFile(path, text))
            body = documents[0].root.to_python()
        except (*UNREADABLE, IndexError):
            return None
        if isinstance(body, dict):
            return body
        return None

    def _paths_in(self, folder: str) -> list[str]:
        entries = self._entries(self._folder / folder)
        return [f"{folder}/{name}" for name in sorted(entries)]

    def _is_ours(self, path: str) -> bool:
        return is_marked(path, self._read(path) or b"")

    def _read(self, path: str) -> bytes | None:
        try:
            return inputs.read_bytes(self._folder / path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as fault:
            reason = fault.strerror or str(fault)
            self.unreadable[path] = reason[:1].lower() + reason[1:]
            return None

    def faults(self, paths: Iterable[str]) -> Iterator[Diagnostic]:
        """The files that are there and could not be read, of some ``paths`` and those that were asked for."""
        _ = self.index
        paths = list(paths)
        for folder in set(map(os.path.dirname, paths)):
            if inputs.is_link(self._folder / folder):
                self.unreadable[folder] = "it is a symbolic link, and none is followed"
        for path in paths:
            file = self._folder / path
            if inputs.is_folder(file):
                self.unreadable[path] = "it is a folder"
            elif not inputs.is_readable(file) and inputs.exists(file):
                self.unreadable[path] = "permission denied"
        for path, reason in sorted(self.unreadable.items()):
            yield error(
                "CHG031",
                f"`{self._folder / path}` cannot be read: {reason}",
                _SPEC,
                help="correct its owner and mode, or restore it from version control (`git checkout -- FILE`)",
                label="what runs by it is not known",
            )

    def files_below(self, folder: str) -> list[str]:
        """The files of a folder and of those in it, by their paths from the cluster's folder."""
        files: list[str] = []
        for name, is_folder in sorted(self._entries(self._folder / folder).items()):
            path = f"{folder}/{name}"
            files += self.files_below(path) if is_folder else [path]
        return files

    def ours(self) -> dict[str, bytes]:
        """Every file that we wrote, by its path; what others put there is left out."""
        found = {}
        for name, is_folder in sorted(self._entries(self._folder).items()):
            for path in self.files_below(name) if is_folder else [name]:
                data = self._read(path)
                if data is not None and is_marked(path, data):
                    found[path] = data
        return found

    def text(self, path: str) -> str:
        """The text of a committed file; empty where it cannot be read."""
        return (self._read(path) or b"").decode(errors="replace")

    def template(self, path: str) -> Body | None:
        """The committed body of a file that is no object; ``None`` where it cannot be read."""
        data = self._read(path)
        if data:
            return self._body(path, data)
        return None

    def manifest(self, ref: str, path: str, like: Manifest) -> Manifest | None:
        """The committed object at a path, with the places of ``like``; ``None`` where it cannot be read."""
        try:
            data = self._read(path)
            if not data:  # where Trainyard 0.1 had it
                noted = self.index["objects"][ref]
                data = self._read(noted["path"])
        except UNREADABLE:
            return None
        body = self._body(path, data)
        if body is None or str(ref_of(body)) != ref:
            return None
        kind = ref.partition("/")[0]
        if like.ref.kind != kind:
            return Manifest(body, path, like.at)
        return Manifest(body, path, like.at, like.origins, like.lists, choices=like.choices)


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)
