"""A body that several artifacts hold parts of, read by its paths: each place is found in the artifact that has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.artifact import Artifact
from trainyard.output.body import value_at as value_at
from trainyard.output.manifest import placeholder
from trainyard.verify.fault import Fault, Path


@dataclass(slots=True)
class Whole:
    """A body, and for the paths at which other artifacts stand in it, the artifact and the path in that."""

    body: dict[str, Any]
    artifact: Artifact
    sources: dict[Path, tuple[Artifact, Path]] = field(default_factory=dict)

    def route(self, path: Path) -> tuple[Artifact, Path]:
        """The artifact and the path in it of a path of the whole."""
        for depth in range(len(path), -1, -1):
            found = self.sources.get(path[:depth])
            if found is not None:
                artifact, start = found
                return artifact, (*start, *path[depth:])
        return self.artifact, path

    def place(self, fault: Fault) -> tuple[Artifact, Fault]:
        """The artifact that a fault is in, and the fault by its path there."""
        artifact, path = self.route(fault.path)
        return artifact, replace(fault, path=path)


@dataclass(frozen=True, slots=True)
class Part:
    """A mapping of a whole, and its path."""

    whole: Whole
    path: Path

    def get(self, *keys: str | int) -> Any:
        """The value at some keys below; ``None`` where there is none, or it is filled in later."""
        value = self._written(*keys)
        if isinstance(value, str) and placeholder(value):
            return None
        return value

    def text(self, *keys: str | int) -> str | None:
        value = self.get(*keys)
        return value if isinstance(value, str) else None

    def id(self, *keys: str | int) -> str:
        """An id, or the variable that stands for it."""
        value = self._written(*keys)
        return value if isinstance(value, str) else ""

    def ids(self, *keys: str | int) -> tuple[str, ...]:
        """Ids, and variables that stand for some."""
        values = self._written(*keys)
        found = values if isinstance(values, list) else ()
        return tuple(value for value in found if isinstance(value, str))

    def flag(self, *keys: str | int) -> bool:
        return self.get(*keys) is True

    def number(self, *keys: str | int) -> int | None:
        value = self.get(*keys)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value

    def items(self, *keys: str | int) -> Iterator[Part]:
        """The mappings of a list."""
        values = self.get(*keys)
        for index, value in enumerate(values if isinstance(values, list) else ()):
            if isinstance(value, dict):
                yield Part(self.whole, (*self.path, *keys, index))

    def at(self, *keys: str | int) -> Route:
        artifact, path = self.whole.route((*self.path, *keys))
        return Route((artifact.id, *path))

    def _written(self, *keys: str | int) -> Any:
        return value_at(self.whole.body, *self.path, *keys)
