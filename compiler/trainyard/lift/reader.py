"""Reads bodies of any shape: a value that is missing or of another type is absent, never an exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from trainyard.language.places import Key, Route
from trainyard.language.units import Duration, Quantity
from trainyard.output.body import texts_at, value_at
from trainyard.output.manifest import Manifest


class Reader:
    """A value in a manifest and its path, whose first key is the manifest's id."""

    __slots__ = ("_path", "value")

    def __init__(self, value: Any, path: tuple[Key, ...]) -> None:
        self.value = value
        self._path = path

    @property
    def at(self) -> Route:
        """The route of the value."""
        return Route(self._path)

    def __truediv__(self, key: Key) -> Reader:
        value = self.value
        if value.__class__ is dict:
            inner = value.get(key)
        else:
            inner = value_at(value, key)
        return Reader(inner, (*self._path, key))

    def __bool__(self) -> bool:
        return self.value is not None

    def follow(self, *keys: Key) -> Reader:
        """Several keys down."""
        value = value_at(self.value, *keys)
        return Reader(value, (*self._path, *keys))

    def text(self) -> str | None:
        """The string."""
        if isinstance(self.value, str):
            return self.value
        return None

    def word(self) -> str:
        """The string, or an empty one."""
        if isinstance(self.value, str):
            return self.value
        return ""

    def integer(self) -> int | None:
        """The whole number."""
        if isinstance(self.value, bool):
            return None
        if isinstance(self.value, int):
            return self.value
        return None

    def number(self) -> int | None:
        """The whole number, which CloudFormation and Terraform take as a text too."""
        if isinstance(self.value, str) and self.value.isdecimal():
            return int(self.value)
        return self.integer()

    def flag(self) -> bool | None:
        """The boolean."""
        if isinstance(self.value, bool):
            return self.value
        return None

    def items(self) -> list[Reader]:
        """The items of a list."""
        if not isinstance(self.value, list):
            return []
        items = enumerate(self.value)
        return [Reader(item, (*self._path, index)) for index, item in items]

    def mappings(self) -> list[dict[str, Any]]:
        """The items of a list, without their places; an item that is no mapping becomes an empty one."""
        if not isinstance(self.value, list):
            return []
        return [item if isinstance(item, dict) else {} for item in self.value]

    def texts(self) -> tuple[str, ...]:
        """The strings of a list."""
        return tuple(texts_at(self.value))

    def entries(self) -> Iterator[tuple[str, Reader]]:
        """The entries of a mapping."""
        if isinstance(self.value, dict):
            for key, value in self.value.items():
                if isinstance(key, str):
                    yield key, Reader(value, (*self._path, key))

    def strings(self) -> dict[str, str]:
        """The string values of a mapping."""
        if not isinstance(self.value, dict):
            return {}
        return {
            key: value
            for key, value in self.value.items()
            if isinstance(key, str) and isinstance(value, str)
        }

    def mapping(self) -> dict[str, Any]:
        """The mapping as it is, or an empty one."""
        if isinstance(self.value, dict):
            return self.value
        return {}

    def quantity(self) -> Quantity | None:
        """The quantity, if it is one."""
        return _quantity(self.value)

    def quantities(self) -> dict[str, Quantity]:
        """The quantities of a mapping."""
        return dict(_quantities(self._amounts()))

    def opaque(self) -> bool:
        """Whether a number, or one of a mapping's quantities, is there and is none, like ``${NODES}``."""
        if self.value is None:
            return False
        if not isinstance(self.value, dict):
            return self.quantity() is None
        known = _quantities(self._amounts())
        if len(known) == len(self.value):
            return False
        there = [key for key, value in self.value.items() if value is not None]
        named = [key for key in there if isinstance(key, str)]
        return len(known) < len(named)

    def _amounts(self) -> tuple[tuple[Any, str | int], ...]:
        """The entries of a mapping that may be quantities."""
        entries = self.mapping().items()
        return tuple([entry for entry in entries if entry[1].__class__ in _AMOUNTS])

    def duration(self) -> Duration | None:
        """The duration, if it is one."""
        try:
            if self.word():
                return Duration.parse(self.word())
            return None
        except ValueError:
            return None


class Places(Mapping[str, Route]):
    """The places of a node's fields, by their paths below that of the node. Each is made when it is asked for: most
    nodes of a set have no finding."""

    __slots__ = ("_at", "_paths")

    def __init__(self, at: Route, paths: Mapping[str, tuple[Key, ...]]) -> None:
        self._at = at
        self._paths = paths

    def __getitem__(self, field: str) -> Route:
        return self._at / self._paths[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


_AMOUNTS = frozenset({str, int})
"""The classes of values that may be quantities: a boolean is none."""


@lru_cache(maxsize=1024)
def _quantities(amounts: tuple[tuple[Any, str | int], ...]) -> tuple[tuple[str, Quantity], ...]:
    """The quantities of some amounts: most jobs of a set ask for the same."""
    quantities = []
    for key, amount in amounts:
        quantity = Quantity.read(amount)
        if isinstance(key, str) and quantity is not None:
            quantities.append((key, quantity))
    return tuple(quantities)


def _quantity(value: Any) -> Quantity | None:
    return Quantity.read(value) if value.__class__ in _AMOUNTS else None


@lru_cache(64)
def embedded(text: str) -> Any:
    """What YAML in a string says; ``None`` where it is none. Not to be changed: the clusters of a fleet share it."""
    from trainyard.language.source.libyaml import LOADER, yaml

    try:
        return yaml.load(text, Loader=LOADER)
    except (yaml.YAMLError, RecursionError):
        return None
    except ValueError:  # a date like 2026-02-30
        return None


def unread(**fields: Reader) -> frozenset[str]:
    """The names of the fields that are there and cannot be read; of a mapping of quantities also those of its entries,
    like ``limits.nvidia.com/gpu``."""
    opaque = [(name, value) for name, value in fields.items() if value.opaque()]
    names = {name for name, _ in opaque}
    for name, value in opaque:
        names |= {f"{name}.{key}" for key, entry in value.entries() if entry.opaque()}
    return frozenset(names)


def reader(manifest: Manifest) -> Reader:
    """The reader of a manifest's body."""
    return Reader(manifest.body, (manifest.id,))


def name_of(body: Reader) -> str:
    """metadata.name."""
    return as_text(value_at(body.value, "metadata", "name")) or ""


def namespace_of(body: Reader) -> str:
    """metadata.namespace."""
    return as_text(value_at(body.value, "metadata", "namespace")) or ""


def labels_of(body: Reader) -> dict[str, str]:
    """metadata.labels, less the one that says who writes the object."""
    labels = body.follow("metadata", "labels").strings()
    labels.pop("app.kubernetes.io/managed-by", None)
    return labels


def annotations_of(body: Reader) -> dict[str, str]:
    """metadata.annotations, less Flux' own."""
    annotations = body.follow("metadata", "annotations").strings()
    return {
        key: value
        for key, value in annotations.items()
        if not key.startswith("kustomize.toolkit.fluxcd.io/")
    }


def pruned(body: Reader) -> bool:
    """Whether Flux deletes the object when it leaves git."""
    key = "kustomize.toolkit.fluxcd.io/prune"
    return as_text(value_at(body.value, "metadata", "annotations", key)) != "disabled"


def as_text(value: Any) -> str | None:
    """A value as ``Reader.text`` gives it: of a field whose place nobody asks for."""
    return value if isinstance(value, str) else None


def as_integer(value: Any) -> int | None:
    """A value as ``Reader.integer`` gives it."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number else None


def as_flag(value: Any) -> bool | None:
    """A value as ``Reader.flag`` gives it."""
    return value if isinstance(value, bool) else None
