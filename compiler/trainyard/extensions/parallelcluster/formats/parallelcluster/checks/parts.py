"""Parts of a configuration with their paths: what is of another shape is left out, since the structure reports it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.output.body import value_at
from trainyard.output.manifest import placeholder
from trainyard.verify.fault import Path


@dataclass(frozen=True, slots=True)
class Part:
    """A mapping and its path."""

    body: Any
    path: Path = ()

    def get(self, *keys: str | int) -> Any:
        """The value at some keys below."""
        return value_at(self.body, *keys)

    def text(self, *keys: str | int) -> str | None:
        """A text; ``None`` where there is none, or it is filled in later."""
        value = self.get(*keys)
        if not isinstance(value, str) or placeholder(value):
            return None
        return value

    def number(self, *keys: str | int) -> int | None:
        value = self.get(*keys)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value

    def has(self, *keys: str | int) -> bool:
        """Whether a key is given."""
        return self.get(*keys) is not None

    def below(self, *keys: str | int) -> Part:
        return Part(self.get(*keys), (*self.path, *keys))

    def items(self, *keys: str | int) -> Iterator[Part]:
        """The mappings of a list."""
        values = self.get(*keys)
        for index, value in enumerate(values if isinstance(values, list) else ()):
            if isinstance(value, dict):
                yield Part(value, (*self.path, *keys, index))

    def texts(self, *keys: str | int) -> list[str]:
        values = self.get(*keys)
        return [
            each for each in (values if isinstance(values, list) else ()) if isinstance(each, str)
        ]

    def at(self, *keys: str | int) -> Path:
        """The path of a key below."""
        return (*self.path, *keys)


def queues_of(body: Any) -> Iterator[Part]:
    """The queues of a configuration."""
    return Part(body).items("Scheduling", "SlurmQueues")


def resources_of(queue: Part) -> Iterator[Part]:
    """The compute resources of a queue."""
    return queue.items("ComputeResources")
