"""A body as the API server stores it: nulls pruned, defaults filled in. A new value; the body stays as it is."""

from __future__ import annotations

from typing import Any

from compiler.verify.node import Node


def defaulted(node: Node, value: Any) -> Any:
    """The value with its nulls pruned (where they are not a value) and its defaults filled in."""
    if isinstance(value, dict):
        return _object(node, value)
    if isinstance(value, list) and node.items is not None:
        items = node.items
        return [defaulted(items, item) for item in value]
    return value


def _object(node: Node, value: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, item in value.items():
        child = node.prop(key) or node.extra
        if item is None and child is not None and not child.nullable:
            continue
        out[key] = item if child is None else defaulted(child, item)
    for name in node.names:
        if (
            name not in out
            and (child := node.prop(name)) is not None
            and child.has_default
        ):
            out[name] = defaulted(child, child.default)
    return out
