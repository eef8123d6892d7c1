"""The committed folder of a cluster: its index, its runs, and its objects as they were written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from compiler.emit import UNREADABLE
from compiler.emit.yaml import encoded
from compiler.history.runs import Run, broken_runs, read_index, read_runs
from compiler.manifest import Manifest
from compiler.source import SourceFile
from compiler.source.parse import parse
from compiler.source.read import read_bytes


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
    def latest(self) -> dict[str, Run]:
        """The last run of each job, by the job's name in the spec."""
        latest: dict[str, Run] = {}
        for run in sorted(self.runs, key=lambda run: run.order):
            latest[run.job] = run
        return latest

    def holds(self, manifest: Manifest) -> bool:
        """Whether an object stands there just as it would be written."""
        written = self._files.get(manifest.path)
        return written is not None and written == sha256(encoded(manifest.body)).hexdigest()

    @cached_property
    def _files(self) -> Mapping[str, Any]:
        files = self.index.get("files")
        return files if isinstance(files, dict) else {}

    def refs(self, kind: str) -> list[str]:
        """The objects of a kind."""
        objects = self.index.get("objects")
        names = objects if isinstance(objects, dict) else {}
        return [ref for ref in names if ref.startswith(f"{kind}/")]

    def manifest(self, ref: str, like: Manifest, *, edited: bool = False) -> Manifest | None:
        """An object as it was written, with the places of ``like``; ``None`` where it cannot be read.

        ``edited``: as it stands there, even where somebody edited the file since.
        """
        try:
            path = self.index["objects"][ref]["path"]
            data = read_bytes(self._folder / path)
            if not edited and self.index["files"][path] != sha256(data).hexdigest():
                return None
            documents, _ = parse(SourceFile(path, data.decode()))
            body = documents[0].root.to_python()
        except (*UNREADABLE, IndexError):
            return None
        if not isinstance(body, dict) or "kind" not in body:
            return None
        same_kind = like.ref.kind == ref.partition("/")[0]
        origins = like.origins if same_kind else {}
        lists = like.lists if same_kind else ()
        return Manifest(body, path, like.at, origins, lists)
