"""Fields of two bodies that differ, and who owns a field.

Sources: kubernetes.io, server-side apply; structured-merge-diff v6, serialisation of ``fieldsV1``: ``f:`` a field,
``k:`` the item of a list by its keys, ``v:`` the item of a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from compiler.manifest import Body
from compiler.output.body import items


class Item(NamedTuple):
    """The item of a list whose ``key`` has a value."""

    key: str
    value: Any


Step: TypeAlias = str | int | Item
Steps: TypeAlias = tuple[Step, ...]

_KEYS = ("name", "key", "containerPort", "mountPath", "topologyKey", "type")
"""What items of lists are told apart by; the first that all of them have, each another value."""


class Absent:
    """There is no value."""


ABSENT = Absent()


class Pair(NamedTuple):
    """A field with the value that it should have and the one that it has."""

    steps: Steps
    wanted: Any
    found: Any


def differing(wanted: Any, found: Any, steps: Steps = ()) -> Iterator[Pair]:
    """The smallest fields that differ."""
    if wanted == found:
        return
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in dict.fromkeys((*wanted, *found)):
            yield from differing(wanted.get(key, ABSENT), found.get(key, ABSENT), (*steps, key))
        return
    if isinstance(wanted, list) and isinstance(found, list):
        rows = _aligned(wanted, found)
        if rows is not None:
            for step, one, other in rows:
                yield from differing(one, other, (*steps, step))
            return
    yield Pair(steps, wanted, found)


def _aligned(wanted: list[Any], found: list[Any]) -> list[tuple[Step, Any, Any]] | None:
    """The items of two lists in pairs; ``None`` where nothing says which belong together."""
    key = item_key(wanted, found)
    if key is not None:
        one = {item[key]: item for item in wanted}
        other = {item[key]: item for item in found}
        names = list(dict.fromkeys((*one, *other)))
        if [name for name in one if name in other] != [name for name in other if name in one]:
            return None  # the order differs
        return [(Item(key, name), one.get(name, ABSENT), other.get(name, ABSENT)) for name in names]
    if len(wanted) != len(found):
        return None
    return [(index, *pair) for index, pair in enumerate(zip(wanted, found, strict=True))]


def item_key(*lists: Sequence[Any]) -> str | None:
    """The key by which the items of some lists are told apart."""
    for key in _KEYS:
        if all(_identifies(key, values) for values in lists):
            return key
    return None


def _identifies(key: str, values: Sequence[Any]) -> bool:
    if not all(isinstance(item, dict) and isinstance(item.get(key), str | int) for item in values):
        return False
    return len({item[key] for item in values}) == len(values)


def shown(steps: Steps) -> str:
    """A path for people: ``spec.containers[name=node].image``."""
    text = ""
    for step in steps:
        if isinstance(step, Item):
            text += f"[{step.key}={step.value}]"
        elif isinstance(step, int):
            text += f"[{step}]"
        elif "." in step or "/" in step:
            text += f'["{step}"]'
        else:
            text += f".{step}" if text else step
    return text


def owners(body: Body, steps: Steps) -> tuple[str, ...]:
    """The managers of a field of a live object, by name; none where nobody owns it."""
    entries = items(body, "metadata", "managedFields")
    names = [str(each["manager"]) for each in entries if _owns(each.get("fieldsV1"), body, steps)]
    return tuple(dict.fromkeys(names))


def _owns(node: Any, value: Any, steps: Steps) -> bool:
    """Whether fields hold a path, or the whole value that it leads into."""
    for step in steps:
        if not isinstance(node, dict):
            return False
        if not node:
            return True
        value = _child(value, step)
        node = _field(node, step, value)
    return node is not None


def _child(value: Any, step: Step) -> Any:
    if isinstance(step, Item):
        for each in value if isinstance(value, list) else ():
            if isinstance(each, dict) and each.get(step.key) == step.value:
                return each
        return None
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _field(node: Mapping[str, Any], step: Step, value: Any) -> Any:
    if isinstance(step, str):
        return node.get(f"f:{step}")
    for name, inner in node.items():
        if _means(name, value):
            return inner
    return None


def _means(name: str, value: Any) -> bool:
    """Whether ``k:…`` or ``v:…`` names an item of a list."""
    kind, _, text = name.partition(":")
    if kind == "k" and isinstance(value, dict):
        return bool(json.loads(text).items() <= value.items())
    return kind == "v" and bool(json.loads(text) == value)


def leaves(node: Any, value: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """The fields that ``fieldsV1`` holds, each with its value; those that are not there any more are left out."""
    if not isinstance(node, dict):
        return
    inner = [name for name in node if name != "."]
    if not inner:
        yield steps, value
        return
    for name in inner:
        kind, _, text = name.partition(":")
        if kind == "f" and isinstance(value, dict) and text in value:
            yield from leaves(node[name], value[text], (*steps, text))
        elif kind in ("k", "v") and isinstance(value, list):
            for step, each in _steps(value):
                if _means(name, each):
                    yield from leaves(node[name], each, (*steps, step))


def _steps(values: list[Any]) -> Iterator[tuple[Step, Any]]:
    key = item_key(values)
    for index, each in enumerate(values):
        yield (index if key is None else Item(key, each[key])), each
