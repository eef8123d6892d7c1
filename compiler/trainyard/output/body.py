"""Paths through a body: one path, a pattern of paths, and every value below.

Bodies are what YAML or JSON gives: mappings, lists and scalars, of any shape. What is absent, or has another type than
a path expects, is absent; nothing here raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trainyard.language.places import Key
from trainyard.output.artifact import Body

Path = tuple[Key, ...]
"""Keys of mappings and indices of lists, from the body down."""


def value_at(body: Any, *keys: Key) -> Any:
    """The value under keys, or ``None`` where the body has another shape."""
    for key in keys:
        if isinstance(body, dict):
            body = body.get(key)
        elif isinstance(body, (list, tuple)) and isinstance(key, int):
            if key < len(body):
                body = body[key]
            else:
                body = None
        else:
            return None
    return body


def indexed(body: Any, *keys: Key) -> Iterator[tuple[int, dict[str, Any]]]:
    """The mappings of the list under keys, each with its place in it; none where there is no list."""
    values = value_at(body, *keys)
    if not isinstance(values, (list, tuple)):
        return
    for index, value in enumerate(values):
        if isinstance(value, dict):
            yield index, value


def mappings_at(body: Any, *keys: Key) -> list[dict[str, Any]]:
    """The mappings of the list under keys; empty where there is no list."""
    values = value_at(body, *keys)
    if not isinstance(values, (list, tuple)):
        return []
    return [value for value in values if isinstance(value, dict)]


def texts_at(body: Any, *keys: Key) -> list[str]:
    """The strings of the list under keys; empty where there is no list."""
    values = value_at(body, *keys)
    if not isinstance(values, (list, tuple)):
        return []
    return [value for value in values if isinstance(value, str)]


def values_along(
    body: Any, pattern: tuple[str, ...], start: Path = ()
) -> Iterator[tuple[Path, Any]]:
    """The values that a pattern of keys leads to, each with its path below ``start``; ``*`` is every item of a list,
    and ``{}`` every value of a mapping."""
    for depth, key in enumerate(pattern):
        if key == "*":
            yield from _follow_items(body, pattern[depth + 1 :], (*start, *pattern[:depth]))
            return
        if key == "{}":
            if not isinstance(body, dict):
                return
            above = (*start, *pattern[:depth])
            for name, value in body.items():
                yield from values_along(value, pattern[depth + 1 :], (*above, name))
            return
        if not isinstance(body, dict):
            return
        body = body.get(key)
        if body is None:
            return
    yield (*start, *pattern), body


def _follow_items(body: Any, rest: tuple[str, ...], start: Path) -> Iterator[tuple[Path, Any]]:
    if not isinstance(body, list):
        return
    following = rest[0] if rest else None
    for index, item in enumerate(body):
        if following and isinstance(item, dict) and following not in item:
            continue  # as most variables have no `valueFrom`
        yield from values_along(item, rest, (*start, index))


def walk_values(
    body: Any, start: Path = (), *, stop: Callable[[Any], bool] | None = None
) -> Iterator[tuple[Path, Any]]:
    """Every value with its path below ``start``, parents first; of a value that ``stop`` holds for, not what is in
    it."""
    left: list[tuple[Path, Any]] = [(start, body)]
    while left:
        path, value = left.pop()
        yield path, value
        if stop is not None and stop(value):
            continue
        if isinstance(value, dict):
            inner = [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            inner = [((*path, index), item) for index, item in enumerate(value)]
        else:
            continue
        left += reversed(inner)


def walk_mappings(
    body: Any, start: Path = (), *, stop: Callable[[Body], bool] | None = None
) -> Iterator[tuple[Path, Body]]:
    """Every mapping, as ``walk_values`` has it; of most bodies a third of the values."""
    left: list[tuple[Path, Any]] = [(start, body)]
    while left:
        path, value = left.pop()
        entries: Iterable[tuple[Key, Any]] = ()
        if isinstance(value, dict):
            yield path, value
            if stop is None or not stop(value):
                entries = value.items()
        elif isinstance(value, list):
            entries = enumerate(value)
        inner = [((*path, key), item) for key, item in entries if isinstance(item, dict | list)]
        left += reversed(inner)
