"""Merges an example over a base: mappings by key, lists by ``name``, ``key``, ``pool`` or position.

``null`` removes a key. ``$patch: delete`` removes an object, ``$patch: replace`` stands for a whole mapping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.output.manifest import Body, ref_of

_KEYS = ("name", "key", "pool")
_STARTED = ("NodePool", "ClusterTrainingRuntime")
"""Kinds whose new objects start as a copy of the base's, since an example names only what it is about."""


def overlaid(base: Sequence[Body], changes: Sequence[Body]) -> list[Body]:
    """A set of objects with others laid over it, each over the object of its kind and (if given) name."""
    objects = list(base)
    for change in changes:
        index = _index(objects, change)
        if index is None:
            start = _start(base, change)
            objects.append(merged(start, change))
        elif change.get("$patch") == "delete":
            del objects[index]
        else:
            objects[index] = merged(objects[index], change)
    return objects


def _index(objects: Sequence[Body], change: Body) -> int | None:
    name = change.get("metadata", {}).get("name")
    for index, body in enumerate(objects):
        if body["kind"] != change["kind"]:
            continue
        if name in (None, ref_of(body).name):
            return index
    return None


def _start(base: Sequence[Body], change: Body) -> Body:
    if change["kind"] not in _STARTED:
        return {}
    for body in base:
        if body["kind"] != change["kind"]:
            continue
        if ref_of(body).group == ref_of(change).group:
            return body
    return {}


def merged(base: Any, change: Any) -> Any:
    """``change`` laid over ``base``."""
    if isinstance(base, Mapping) and isinstance(change, Mapping):
        return _mapping(base, change)
    if _of_mappings(base) and _of_mappings(change):
        return _list(base, change)
    return _clean(change)


def _mapping(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    if change.get("$patch") == "replace":
        replacement = dict(change)
        del replacement["$patch"]
        return replacement
    laid = dict(base)
    for key, value in change.items():
        if value is None:
            laid.pop(key, None)
        elif key in base:
            laid[key] = merged(base[key], value)
        else:
            laid[key] = _clean(value)
    return laid


def _of_mappings(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(item, Mapping) for item in value)


def _list(base: list[Any], change: list[Any]) -> list[Any]:
    laid = list(base)
    for position, item in enumerate(change):
        index = _position(laid, item, position)
        if index is None:
            laid.append(_clean(item))
        else:
            laid[index] = merged(laid[index], item)
    return laid


def _position(items: list[Any], change: Mapping[str, Any], position: int) -> int | None:
    """The item that a change is about: of the same name, or at the same place where it has none."""
    key = next((key for key in _KEYS if key in change), None)
    if key is None:
        if position < len(items):
            return position
        return None
    for index, item in enumerate(items):
        if item.get(key) == change[key]:
            return index
    return None


def _clean(value: Any) -> Any:
    """A value without what only speaks of the base."""
    if isinstance(value, Mapping):
        return {
            key: _clean(item) for key, item in value.items() if item is not None and key != "$patch"
        }
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value
