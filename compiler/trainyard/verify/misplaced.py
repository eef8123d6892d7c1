"""Where a field belongs that stands one level too high or too low."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.language.places import Key
from trainyard.output.body import at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Path
from trainyard.verify.node import Node

_ANYWHERE = frozenset(
    {"name", "namespace", "kind", "apiVersion", "metadata", "type", "value", "key"}
)
"""Names that so many objects have that they say nothing of where a field belongs."""
_AMOUNTS = {"limits", "requests"}
"""The fields of a container's resources: what stands beside them is a limit, which is a request too."""
_FIRST = 1
"""The fields of an object itself are no place for one of its spec."""


def belongs(root: Node, body: Body, path: Path) -> Path:
    """The one place near an unknown field at which the API knows a field of its name, and the body has none: in what
    is beside it, or around it; () where there is none, or several."""
    *above, key = path
    if not isinstance(key, str) or key in _ANYWHERE:
        return ()
    node = _node(root, above)
    if node is None:
        return ()
    value = at(body, *path)
    if _AMOUNTS.issubset(node.names) and ("/" in key or key in ("cpu", "memory")):
        place = (*above, "limits", key)
        return place if at(body, *place) is None else ()
    within = [
        place
        for place, owner in _beside(node, at(body, *above), tuple(above))
        if _takes(owner, key, value) and at(body, *place, key) is None
    ]
    if within:
        return (*within[0], key) if len(within) == 1 else ()
    for depth in range(len(above) - 1, _FIRST - 1, -1):
        place = tuple(above[:depth])
        owner = _node(root, place)
        if owner is not None and _takes(owner, key, value):
            return (*place, key) if at(body, *place, key) is None else ()
    return ()


def _node(root: Node, path: Path | list[Key]) -> Node | None:
    """The part of a schema that says what may stand at a path."""
    node: Node | None = root
    for key in path:
        if node is None:
            return None
        node = node.items if isinstance(key, int) else node.prop(key) or node.child(key)
    return node


def _beside(node: Node, parent: Any, place: Path) -> Iterator[tuple[Path, Node]]:
    """The mappings in the fields of an object: those of a list, where it has one item."""
    for name in node.names:
        child = node.prop(name)
        if child is None:
            continue
        if dict in child.classes:
            yield (*place, name), child
        items = child.items
        listed = parent.get(name) if isinstance(parent, dict) else None
        if items is not None and isinstance(listed, list) and len(listed) == 1:
            yield (*place, name, 0), items


def _takes(node: Node, key: str, value: Any) -> bool:
    """Whether an object has a field for a value of this class."""
    child = node.prop(key)
    if child is None:
        return False
    return not child.classes or value.__class__ in child.classes
