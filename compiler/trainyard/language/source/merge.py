"""Merging a spec over its base. Every node keeps its own file and span."""

from __future__ import annotations

from itertools import chain

from trainyard.language.places.tree import MappingNode, Node, ScalarNode, SequenceNode, text_node


def merge(base: Node | None, over: Node) -> Node:
    """``over`` merged over ``base``.

    Mappings merge deeply, lists whose items all have a ``name`` merge by name, everything else is
    replaced. An explicit null in ``over`` removes the key.
    """
    if isinstance(over, MappingNode):
        if base is None or isinstance(base, MappingNode):
            return _merge_mappings(base, over)
    elif isinstance(over, SequenceNode) and isinstance(base, SequenceNode):
        items = _named(over)
        base_items = _named(base)
        if items and base_items:
            return _merge_named(base_items, items, over)
    return over


def is_null(node: Node) -> bool:
    """Whether a node is an explicit or empty null."""
    return isinstance(node, ScalarNode) and node.value is None


def _merge_mappings(base: MappingNode | None, over: MappingNode) -> MappingNode:
    if base is not None:
        items = dict(base.items)
    else:
        items = {}
    for key, value in over.items.items():
        if is_null(value):
            items.pop(key, None)
        else:
            below = items.get(key)
            items[key] = merge(below, value)
    return MappingNode(over.span, items, key_span=over.key_span)


def _merge_named(
    base: list[tuple[str, Node]], over: list[tuple[str, Node]], place: SequenceNode
) -> SequenceNode:
    """Items of the base in its order, then the new ones. A name given twice stays so, to be reported as just that."""
    below = dict(reversed(base))  # of two the first
    above: dict[str, list[Node]] = {}
    for name, item in over:
        merged = merge(below.get(name), item)
        above.setdefault(name, []).append(merged)
    items: list[Node] = []
    for name, item in base:
        items += above.pop(name, [item])
    items += chain.from_iterable(above.values())
    return SequenceNode(place.span, items, key_span=place.key_span)


def _named(node: SequenceNode) -> list[tuple[str, Node]] | None:
    """Items with their names, or ``None`` if one has no name."""
    named = []
    for item in node.items:
        name = text_node(item.child("name"))
        if name is None:
            return None
        named.append((name.text, item))
    return named
