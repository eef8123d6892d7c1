"""Who owns a field of a live object, and which fields somebody owns.

Sources: kubernetes.io, server-side apply; structured-merge-diff v6, serialisation of ``fieldsV1``: ``f:`` a field,
``k:`` the item of a list by its keys, ``v:`` the item of a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.output.body import items
from trainyard.output.fields import Item, Step, Steps, item_key
from trainyard.output.manifest import Body


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
