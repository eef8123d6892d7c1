"""Routes: the keys and indices that lead to a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Key = str | int

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


class Route(tuple[Key, ...]):
    """Keys (``str``) and indices (``int``) from the root of a document to one value.

    A route is symbolic: it is turned into file, line and column only when something is shown
    (``Document.span``). Plan items made by ``resolve`` carry routes into the spec. Plan items made by
    ``lift`` carry routes whose first key is a manifest's id (``@Kind/namespace/name``).
    """

    __slots__ = ()

    def __truediv__(self, key: Key | tuple[Key, ...]) -> Route:
        if isinstance(key, tuple):
            return Route((*self, *key))
        return Route((*self, key))

    def __str__(self) -> str:
        text = ""
        for key in self:
            if isinstance(key, int):
                text += f"[{key}]"
            elif key.startswith("@") or _PLAIN.match(key):
                text += f".{key}" if text else key
            else:
                text += f'["{key}"]'
        return text

    def __repr__(self) -> str:
        return f"Route({str(self)!r})"

    @property
    def parent(self) -> Route:
        """The route of the containing value; the root is its own parent."""
        return Route(self[:-1])


def routes_below(
    value: Any, path: tuple[Key, ...], at: Route
) -> Iterator[tuple[tuple[Key, ...], Route]]:
    """The path of a value and of each value inside, with the route of each: ``value`` stands at ``path`` and came
    from ``at``."""
    yield path, at
    if isinstance(value, Mapping):
        for key, inside in value.items():
            yield from routes_below(inside, (*path, key), at / key)
    elif isinstance(value, list):
        for index, inside in enumerate(value):
            yield from routes_below(inside, (*path, index), at / index)


ROOT = Route()
