"""The committed folder of a cluster: its index, its runs, and its objects as they were written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from compiler.emit import UNREADABLE
from compiler.emit.marker import is_marked, marked
from compiler.emit.yaml import encoded
from compiler.history.runs import Run, broken_runs, read_index, read_runs
from compiler.manifest import Manifest, ref_of
from compiler.source import SourceFile
from compiler.source.parse import parse
from compiler.source.read import read_bytes
from compiler.targets.body import object_path
from compiler.targets.trainer import JOBS

TRAIN_JOB = "TrainJob"


class Committed:
    """What an earlier compilation left in a folder; nothing where the folder is not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def index(self) -> Mapping[str, Any]:
        """Its ``.manifest.json``."""
        return read_index(self._folder)

    @cached_property
    def runs(self) -> list[Run]:
        """Every run that it remembers."""
        return read_runs(self._folder, self.index)

    @property
    def broken_runs(self) -> list[str]:
        """The files of runs that cannot be read."""
        return broken_runs(self._folder)

    @cached_property
    def latest(self) -> dict[str, list[Run]]:
        """The last run of each job, by the job's name in the spec; several where two branches made one each."""
        latest: dict[str, list[Run]] = {}
        for run in sorted(self.runs, key=lambda run: run.order):
            known = latest.setdefault(run.job, [])
            if known and known[0].order != run.order:
                known.clear()
            known.append(run)
        return latest

    def holds(self, manifest: Manifest) -> bool:
        """Whether an object stands there just as it would be written."""
        return self._read(manifest.path) == marked(manifest.path, encoded(manifest.body, manifest.choices))

    def names(self, folder: str, kind: str) -> list[str]:
        """The objects of a kind without a namespace that we wrote into a folder, by name."""
        prefix = f"{kind.lower()}-"
        return [path.stem.removeprefix(prefix) for path in self._ours(folder, f"{prefix}*.yaml")]

    def forgotten(self) -> list[str]:
        """TrainJobs that we wrote and of whose run nothing is remembered: by path."""
        if "jobs" in self.index:  # as Trainyard 0.1 remembered them
            return []
        known = {object_path(JOBS, TRAIN_JOB, run.object, run.namespace) for run in self.runs}
        unread = {Path(path).stem for path in self.broken_runs}
        prefix = f"{TRAIN_JOB.lower()}-"
        return [
            str(path) for path in self._ours(JOBS, f"*.{prefix}*.yaml")
            if f"{JOBS}/{path.name}" not in known and path.stem.replace(f".{prefix}", ".", 1) not in unread
        ]

    def _ours(self, folder: str, pattern: str) -> list[Path]:
        found = []
        for path in sorted((self._folder / folder).glob(pattern)):
            inside = f"{folder}/{path.name}"
            if is_marked(inside, self._read(inside) or b""):
                found.append(path)
        return found

    def _read(self, path: str) -> bytes | None:
        try:
            return read_bytes(self._folder / path)
        except OSError:
            return None

    def manifest(self, ref: str, path: str, like: Manifest) -> Manifest | None:
        """The object at a path as it stands there, with the places of ``like``; ``None`` where it cannot be read."""
        try:
            data = self._read(path) or self._read(self.index["objects"][ref]["path"])  # where 0.1 had it
            documents, _ = parse(SourceFile(path, (data or b"").decode()))
            body = documents[0].root.to_python()
        except (*UNREADABLE, IndexError):
            return None
        if not isinstance(body, dict) or str(ref_of(body)) != ref:
            return None
        same_kind = like.ref.kind == ref.partition("/")[0]
        origins = like.origins if same_kind else {}
        lists = like.lists if same_kind else ()
        return Manifest(body, path, like.at, origins, lists, choices=like.choices if same_kind else {})
