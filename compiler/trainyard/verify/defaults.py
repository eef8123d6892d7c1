"""A body as the API server stores it: nulls pruned, defaults filled in. A new value; the body stays as it is."""

from __future__ import annotations

from typing import Any

from trainyard.verify.node import Node


def defaulted(node: Node, value: Any) -> Any:
    """The value with its nulls pruned (where they are not a value) and its defaults filled in."""
    if isinstance(value, dict):
        return _object(node, value)
    if isinstance(value, list) and node.items is not None:
        items = node.items
        return [defaulted(items, item) for item in value]
    return value


def _object(node: Node, value: dict[str, Any]) -> dict[str, Any]:
    stored: dict[str, Any] = {}
    for key, item in value.items():
        child = node.child(key)
        if child is None:
            stored[key] = item
        elif item is not None or child.nullable:
            stored[key] = defaulted(child, item)
    for name in node.names_with_default:
        prop = node.prop(name)
        if name not in stored and prop is not None:
            stored[name] = defaulted(prop, prop.default)
    return stored
