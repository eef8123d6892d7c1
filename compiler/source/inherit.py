"""What jobs and pools of one spec give each other: ``extends: NAME``, and ``jobDefaults`` below every job.

They are merged before anything is checked, so that each value keeps the line that says it.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.diagnostics.diagnostic import Diagnostic, error, listed
from compiler.diagnostics.near import meant
from compiler.source.merge import is_null
from compiler.source.tree import MappingNode, Node, ScalarNode, SequenceNode

EXTENDS, DEFAULTS = "extends", "jobDefaults"
NEVER_INHERITED = ("name", "rerun", "done", EXTENDS)
_LISTS = {"jobs": "job", "nodePools": "pool"}
# One value each, although it may be a mapping: half of one and half of another is neither.
_WHOLE = ("capacity", "nodes", "placement", "topology")


def inherit(root: MappingNode) -> tuple[MappingNode, list[Diagnostic]]:
    """The document with every job and pool whole, and what is wrong with the names that they extend."""
    spec = root.child("spec")
    if not isinstance(spec, MappingNode):
        return root, []
    faults: list[Diagnostic] = []
    items = dict(spec.items)
    for key, what in _LISTS.items():
        defaults = spec.child(DEFAULTS) if key == "jobs" else None
        node = spec.child(key)
        if isinstance(node, SequenceNode):
            heirs = _Heirs(what, node, defaults)
            items[key] = heirs.whole()
            faults += heirs.faults
    whole = MappingNode(spec.span, items, key_span=spec.key_span)
    root_items = {**root.items, "spec": whole}
    return MappingNode(root.span, root_items, key_span=root.key_span), faults


class _Heirs:
    """The items of one list, each merged over the one that it extends."""

    def __init__(self, what: str, place: SequenceNode, defaults: Node | None) -> None:
        self._what = what
        self._place = place
        self._defaults = defaults if isinstance(defaults, MappingNode) else None
        self._named: dict[str, MappingNode] = {}
        for item in place.items:
            name = _text(item.child("name"))
            if isinstance(item, MappingNode) and name is not None:
                self._named.setdefault(name.text, item)
        self._flat: dict[int, MappingNode] = {}
        self.faults: list[Diagnostic] = []

    def whole(self) -> SequenceNode:
        """The list; of one in which nothing is inherited the same items."""
        items: list[Node] = []
        for item in self._place.items:
            if isinstance(item, MappingNode):
                item = self._with_defaults(item)
            items.append(item)
        return SequenceNode(self._place.span, items, key_span=self._place.key_span)

    def _with_defaults(self, item: MappingNode) -> MappingNode:
        flat = self._flattened(item, ())
        if self._defaults is None:
            return flat
        return _merged(self._defaults, flat)

    def _flattened(self, item: MappingNode, chain: tuple[str, ...]) -> MappingNode:
        """The item over all that it extends, directly and indirectly; faults are reported once."""
        known = self._flat.get(id(item))
        if known is not None:
            return known
        base = self._base(item, chain)
        flat = item if base is None else _merged(base, item)
        self._flat[id(item)] = flat
        return flat

    def _base(self, item: MappingNode, chain: tuple[str, ...]) -> MappingNode | None:
        extends = _text(item.child(EXTENDS))
        if extends is None:
            return None  # of another type: the spec's own check reports it
        name = _text(item.child("name"))
        chain = (*chain, name.text if name is not None else "")
        if extends.text in chain:
            route = " → ".join([*chain[chain.index(extends.text) :], extends.text])
            self._report(
                "YML061",
                f"`extends` goes in a circle: {route}",
                extends,
                "remove one of the steps",
            )
            return None
        base = self._named.get(extends.text)
        if base is None:
            others = [name for name in self._named if name not in chain]
            self._report(
                "YML060",
                f"{self._what} `{extends.text}` is not declared",
                extends,
                meant(extends.text, others) or _one_of(others, self._what),
            )
            return None
        return self._flattened(base, chain)

    def _report(self, code: str, message: str, node: Node, help: str) -> None:
        fault = error(code, message, span=node.span, help=help)
        self.faults.append(replace(fault, label="named here"))


def _one_of(names: list[str], what: str) -> str:
    return f"write one of {listed(names[:12])}" if names else f"declare the {what}"


def _merged(base: MappingNode, over: MappingNode, *, top: bool = True) -> MappingNode:
    """``over`` merged over ``base``: mappings merge by key, all else is replaced, a null removes what the base has."""
    items = {
        key: value
        for key, value in base.items.items()
        if not (top and key in NEVER_INHERITED)
    }
    for key, value in over.items.items():
        below = items.get(key)
        if below is not None and is_null(value):
            del items[key]
        elif (
            isinstance(below, MappingNode)
            and isinstance(value, MappingNode)
            and not (top and key in _WHOLE)
        ):
            items[key] = _merged(below, value, top=False)
        else:
            items[key] = value
    return MappingNode(over.span, items, key_span=over.key_span)


def _text(node: Node | None) -> ScalarNode | None:
    """The node of a text."""
    if isinstance(node, ScalarNode) and isinstance(node.value, str):
        return node
    return None
