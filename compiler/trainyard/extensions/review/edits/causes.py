"""What was edited in a spec: the places that differ between two documents of it."""

from __future__ import annotations

from typing import Any

from trainyard.language.places import Document, Route
from trainyard.language.places.tree import MappingNode, Node, SequenceNode
from trainyard.language.source.include import IncludeNode
from trainyard.language.source.texts import TextNode
from trainyard.output.body import Path
from trainyard.output.fields import Item, Steps, differing

Routes = tuple[Route, ...]


def edited(before: Document, after: Document) -> tuple[Routes, Routes]:
    """The places that differ, in each of two documents. Of what one does not have, the place that it would be in."""
    old, new = _whole(before.root), _whole(after.root)
    found = [pair.steps for pair in differing(new, old)]
    return _routes(old, found), _routes(new, found)


def _whole(node: Node) -> Any:
    """What a node says, with the files that it names in the place of their paths."""
    if isinstance(node, MappingNode):
        return {key: _whole(value) for key, value in node.items.items()}
    if isinstance(node, SequenceNode):
        return [_whole(item) for item in node.items]
    if isinstance(node, IncludeNode):
        return [each.to_python() for each in node.objects]
    if isinstance(node, TextNode) and node.lines:
        return [line.to_python() for line in node.lines]
    return node.to_python()


def _routes(body: Any, found: list[Steps]) -> Routes:
    routes = [Route(keys(body, steps)) for steps in found]
    return tuple(dict.fromkeys(routes))


def nearest(origin: Route, edits: Routes, *, alone: bool) -> Route:
    """The edit behind what comes from ``origin``, or that itself where several might be. ``alone``: nothing but edits
    of the spec can be behind it, so the only one is."""
    inside = [edit for edit in edits if edit[: len(origin)] == origin]
    if len(inside) == 1:
        return inside[0]
    around = any(origin[: len(edit)] == edit for edit in edits)
    if alone and len(edits) == 1 and not inside and not around:
        return edits[0]
    return origin


def keys(body: Any, steps: Steps) -> Path:
    """The keys and indices of a path, as far as a body has them."""
    found: list[str | int] = []
    for step in steps:
        key = _index(body, step) if isinstance(step, Item) else step
        if (isinstance(body, dict) and key in body) or _is_index(body, key):
            assert key is not None
            found.append(key)
            body = body[key]
        else:
            break
    return tuple(found)


def _is_index(body: Any, key: str | int | None) -> bool:
    return isinstance(body, list) and isinstance(key, int) and key < len(body)


def _index(body: Any, item: Item) -> int | None:
    """Where in a list the item of a key and value is."""
    for index, each in enumerate(body):
        if isinstance(each, dict) and each.get(item.key) == item.value:
            return index
    return None
