"""Inheritance within one spec: ``extends: NAME`` between jobs or pools, and ``jobDefaults`` for every job.

They are merged before anything is checked, so that each value keeps the line that says it.
"""

from __future__ import annotations

from trainyard.language.diagnostics.diagnostic import Diagnostic, error, listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places.tree import MappingNode, Node, SequenceNode, text_node
from trainyard.language.source.merge import is_null

EXTENDS, DEFAULTS = "extends", "jobDefaults"
NEVER_INHERITED = ("name", "rerun", "completed", EXTENDS)
_LISTS = {"jobs": "job", "nodePools": "pool"}
# One value each, although it may be a mapping: half of one and half of another is neither.
_WHOLE = ("capacity", "nodes", "placement", "topology")


def inherit(root: MappingNode) -> tuple[MappingNode, list[Diagnostic]]:
    """The document with every job and pool whole, and what is wrong with the names that they extend."""
    spec = root.child("spec")
    if not isinstance(spec, MappingNode):
        return root, []
    diagnostics: list[Diagnostic] = []
    sections = dict(spec.items)
    for key, what in _LISTS.items():
        if key == "jobs":
            defaults = spec.child(DEFAULTS)
        else:
            defaults = None
        node = spec.child(key)
        if isinstance(node, SequenceNode):
            heirs = _Heirs(what, node, defaults)
            sections[key] = heirs.whole()
            diagnostics += heirs.diagnostics
    items = dict(root.items)
    items["spec"] = MappingNode(spec.span, sections, key_span=spec.key_span)
    return MappingNode(root.span, items, key_span=root.key_span), diagnostics


class _Heirs:
    """The items of one list, each merged over the one that it extends."""

    def __init__(self, what: str, place: SequenceNode, defaults: Node | None) -> None:
        self._what = what
        self._place = place
        self._defaults = defaults if isinstance(defaults, MappingNode) else None
        self._named: dict[str, MappingNode] = {}
        for item in place.items:
            name = text_node(item.child("name"))
            if isinstance(item, MappingNode) and name is not None:
                self._named.setdefault(name.text, item)
        self._flat: dict[int, MappingNode] = {}
        self.diagnostics: list[Diagnostic] = []

    def whole(self) -> SequenceNode:
        """The list; of one in which nothing is inherited the same items."""
        items = list(map(self._with_defaults, self._place.items))
        return SequenceNode(self._place.span, items, key_span=self._place.key_span)

    def _with_defaults(self, item: Node) -> Node:
        if not isinstance(item, MappingNode):
            return item
        flat = self._flattened(item, ())
        if self._defaults is None:
            return flat
        return _merged(self._defaults, flat)

    def _flattened(self, item: MappingNode, chain: tuple[str, ...]) -> MappingNode:
        """The item upon all that it extends, directly and indirectly; faults are reported once."""
        if id(item) not in self._flat:
            base = self._base(item, chain)
            if base is None:
                whole = item
            else:
                whole = _merged(base, item)
            self._flat[id(item)] = whole
        return self._flat[id(item)]

    def _base(self, item: MappingNode, chain: tuple[str, ...]) -> MappingNode | None:
        extends = text_node(item.child(EXTENDS))
        if extends is None:
            return None  # of another type: the spec's own check reports it
        wanted = extends.text
        name = text_node(item.child("name"))
        if name is not None:
            own_name = name.text
        else:
            own_name = ""
        chain = (*chain, own_name)
        if wanted in chain:
            circle = chain[chain.index(wanted) :]
            route = " → ".join((*circle, wanted))
            message = f"`extends` goes in a circle: {route}"
            self._report("YML061", message, extends, "remove one of the steps")
            return None
        base = self._named.get(wanted)
        if base is None:
            others = [other for other in self._named if other not in chain]
            message = f"{self._what} `{wanted}` is not declared"
            question = name_meant(wanted, others)
            help = question or _one_of(others, self._what)
            self._report("YML060", message, extends, help)
            return None
        return self._flattened(base, chain)

    def _report(self, code: str, message: str, node: Node, help: str) -> None:
        fault = error(code, message, at=node.span, label="named here", help=help)
        self.diagnostics.append(fault)


def _one_of(names: list[str], what: str) -> str:
    if not names:
        return f"declare the {what}"
    return f"write one of {listed(names[:12])}"


def _merged(base: MappingNode, over: MappingNode) -> MappingNode:
    """``over`` upon ``base``, both items of a list."""
    items = dict(base.items)
    for key in NEVER_INHERITED:
        items.pop(key, None)
    return _upon(items, over, whole=_WHOLE)


def _upon(items: dict[str, Node], over: MappingNode, whole: tuple[str, ...] = ()) -> MappingNode:
    """``over`` upon ``items``: mappings merge by key, but those of ``whole``; all else is replaced, and a null removes
    what is below."""
    for key, value in over.items.items():
        below = items.get(key)
        if below is not None and is_null(value):
            del items[key]
        elif isinstance(below, MappingNode) and isinstance(value, MappingNode) and key not in whole:
            own = dict(below.items)
            items[key] = _upon(own, value)
        else:
            items[key] = value
    return MappingNode(over.span, items, key_span=over.key_span)
