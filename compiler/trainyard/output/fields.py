"""Fields of two bodies that differ, each by its path; items of lists by what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias


class Item(NamedTuple):
    """The item of a list whose ``key`` has a value."""

    key: str
    value: Any


Step: TypeAlias = str | int | Item
Steps: TypeAlias = tuple[Step, ...]

_KEYS = (
    *("name", "key", "containerPort", "mountPath", "topologyKey", "type"),
    *("Name", "Key", "BucketName", "InstanceGroupName"),  # of AWS
)
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
