"""Reads a spec as one of another platform: its keys that this takes, and the others by name."""

from __future__ import annotations

from dataclasses import replace

from trainyard.language.diagnostics import Diagnostic
from trainyard.language.places import Document, MappingNode, Node, Route, SequenceNode
from trainyard.plan.features import Platform
from trainyard.run.language.load import load

__all__ = ["moved"]


def moved(document: Document, platform: Platform) -> tuple[Document, list[Diagnostic]]:
    """The document with ``platform: {NAME: {}}`` and without the keys that the platform has no use for, and what is
    said of each of these (SPC006)."""
    document = Document(_onto(document.root, platform))
    refused: dict[str, Diagnostic] = {}
    while found := [fault for fault in load(document, platform)[1] if fault.code == "SPC006"]:
        for fault in found:
            assert fault.at is not None
            located = fault.locate(document)
            refused.setdefault(f"{located.span} {fault.message}", located)
            document = Document(_without(document.root, fault.at))
    return document, list(refused.values())


def _onto(root: Node, platform: Platform) -> Node:
    """The tree with another platform, at the place of the one that it has."""
    spec = root.child("spec")
    assert isinstance(root, MappingNode)
    assert isinstance(spec, MappingNode)
    own = spec.items.get("platform", spec)
    empty = MappingNode(own.span, {}, key_span=own.key_span)
    named = MappingNode(own.span, {platform.name: empty}, key_span=own.key_span)
    changed = replace(spec, items={**spec.items, "platform": named})
    return replace(root, items={**root.items, "spec": changed})


def _without(node: Node, route: Route) -> Node:
    """The tree without the key at a route, and without the mapping that has nothing else."""
    key, rest = route[0], Route(route[1:])
    if isinstance(node, SequenceNode):
        listed = list(node.items)
        listed[int(key)] = _without(listed[int(key)], rest)
        return replace(node, items=listed)
    assert isinstance(node, MappingNode)
    assert isinstance(key, str)
    items = dict(node.items)
    left = _without(items[key], rest) if rest else None
    if left is None or (isinstance(left, MappingNode) and not left.items):
        del items[key]
    else:
        items[key] = left
    return replace(node, items=items)
