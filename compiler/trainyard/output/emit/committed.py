"""What an earlier run wrote into the folder of a cluster, as it is committed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from trainyard.disk import inputs
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.places import Route, SourceFile
from trainyard.language.source.parse import parse
from trainyard.output.emit import MANIFEST, UNREADABLE
from trainyard.output.emit.marker import is_marked

_SPEC = Route(("spec",))


class CommittedFolder:
    """The folder of a cluster; nothing where it is not there. ``unreadable``: why files could not be read, by their
    paths."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.unreadable: dict[str, str] = {}

    @cached_property
    def index(self) -> Mapping[str, Any]:
        """Its ``.manifest.json``; empty where there is none that can be read."""
        data = self._read(MANIFEST)
        if data is None:
            return {}
        try:
            index = json.loads(data)
        except UNREADABLE:
            index = None
        if isinstance(index, dict) and index:
            return index
        self.unreadable[MANIFEST] = "it is not what Trainyard wrote"
        return {}

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

    def template(self, path: str) -> dict[str, Any] | None:
        """The committed body of a file that is no object; ``None`` where it cannot be read."""
        data = self._read(path)
        if data:
            return self._body(path, data)
        return None

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

    def _entries(self, folder: Path) -> dict[str, bool]:
        """The names in a folder, and whether each is a folder."""
        try:
            found = inputs.entries(folder)
        except OSError:
            return {}
        return {entry.name: inputs.holds_others(entry) for entry in found}

    def _body(self, path: str, data: bytes | None) -> dict[str, Any] | None:
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
