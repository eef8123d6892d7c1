"""A body that is being patched, with the spec line behind each of its fields."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from trainyard.language.places import Key, Route
from trainyard.language.places.route import routes_below
from trainyard.output.manifest import Body

Path = tuple[Key, ...]


class PatchError(Exception):
    """Why a patch does not apply to an object: code, fact, place in the spec, and what to write."""

    def __init__(self, code: str, fact: str, at: Route, help: str) -> None:
        super().__init__(fact)
        self.code = code
        self.fact = fact
        self.at = at
        self.help = help


class Draft:
    """A copy of a body with the places of its fields; what is changed in it is changed in both."""

    def __init__(self, body: Body, origins: dict[Path, Route]) -> None:
        self.body = deepcopy(body)
        self.origins = dict(origins)

    def at(self, path: Path) -> Any:
        """The value at a path; ``KeyError`` where there is none."""
        value: Any = self.body
        for key in path:
            if not _inside(value, key):
                raise KeyError(path)
            value = value[key]
        return value

    def has(self, path: Path) -> bool:
        """Whether there is a value at a path."""
        try:
            self.at(path)
        except KeyError:
            return False
        return True

    def put(self, path: Path, value: Any, at: Route) -> None:
        """Set a value whose container is there; it came from ``at``, key by key."""
        *above, last = path
        container = self.at(tuple(above))
        before = container.get(last) if isinstance(container, dict) else container[last]
        container[last] = deepcopy(value)
        if isinstance(before, (dict, list)):
            self._forget(path)
        self.origins.update(routes_below(value, path, at))

    def insert(self, path: Path, value: Any, at: Route) -> None:
        """Insert a value into a list before ``path``, or at its end."""
        *above, index = path
        assert isinstance(index, int)
        self._shift(tuple(above), index, 1)
        siblings = self.at(tuple(above))
        siblings.insert(index, deepcopy(value))
        self.origins.update(routes_below(value, path, at))

    def remove(self, path: Path, at: Route) -> None:
        """Remove the value at a path. The place of a key is remembered where it would be; an item's is its list's."""
        *above, last = path
        container = self.at(tuple(above))
        del container[last]
        self._forget(path)
        if isinstance(last, int):
            self._shift(tuple(above), last + 1, -1)
            self.origins[tuple(above)] = at
        else:
            self.origins[path] = at

    def _forget(self, path: Path) -> None:
        """Drop the places of a field and of all inside."""
        depth = len(path)
        self.origins = {
            field: route for field, route in self.origins.items() if field[:depth] != path
        }

    def _shift(self, above: Path, first: int, by: int) -> None:
        """Move the places of a list's items from ``first`` on."""
        depth = len(above)
        moved: dict[Path, Route] = {}
        for path, route in self.origins.items():
            if _is_item(path, above, first):
                index = path[depth]
                assert isinstance(index, int)
                path = (*above, index + by, *path[depth + 1 :])
            moved[path] = route
        self.origins = moved


def _is_item(path: Path, above: Path, first: int) -> bool:
    depth = len(above)
    if len(path) <= depth:
        return False
    if path[:depth] != above:
        return False
    index = path[depth]
    return isinstance(index, int) and index >= first


def _inside(value: Any, key: Key) -> bool:
    if isinstance(value, dict):
        return key in value
    if isinstance(value, list):
        return isinstance(key, int) and 0 <= key < len(value)
    return False
