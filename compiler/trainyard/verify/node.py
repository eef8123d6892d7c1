"""Schema nodes, prepared for the structural walk when they are first used."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.re2 import PatternError, compile_re2
from trainyard.verify.patterns import in_words
from trainyard.verify.structure import Raw, children
from trainyard.verify.syntax import SYNTAXES, Syntax

Breach = tuple[str, str, str]  # code, fact, help
Test = Callable[[Any], Breach | None]
Sized = type[str] | type[list[Any]] | type[dict[str, Any]]

CLASSES: dict[str, frozenset[type]] = {
    "object": frozenset({dict}),
    "array": frozenset({list}),
    "string": frozenset({str}),
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
}
_NOTHING: frozenset[type] = frozenset()
_INT_RANGE = {"int32": 2**31, "int64": 2**63}


class Node:
    """One schema node. ``plain`` are the classes of value that it takes without a further look.

    ``classes`` is empty where any type will do. ``extra`` is the schema of undeclared properties, ``open`` says that
    they are not checked. ``strict`` is off inside allOf, anyOf, oneOf and not, whose branches do not declare the whole
    object.
    """

    __slots__ = (
        "_extra",
        "_items",
        "_raw_extra",
        "_raw_items",
        "_raw_props",
        "_ruled",
        "_table",
        "_with_default",
        "branches",
        "classes",
        "default",
        "defaulted",
        "key_syntax",
        "list_keys",
        "nullable",
        "open",
        "plain",
        "props",
        "raw",
        "required",
        "rules",
        "strict",
        "tests",
        "unique",
    )

    def __init__(self, raw: Raw, table: NodeTable, strict: bool) -> None:
        self.raw = raw
        self._table = table
        self.strict = strict
        kinds = raw.get("type", ())
        self.classes = _classes_of(kinds)
        self.nullable = bool(raw.get("nullable")) or not kinds
        self.open = bool(raw.get("any"))
        required = raw.get("required", ())
        self.required: tuple[str, ...] = tuple(required)
        self._raw_props: Raw = raw.get("properties", {})
        self.props: dict[str, Node] = {}
        self._raw_extra: Raw | None = raw.get("additionalProperties")
        self._raw_items: Raw | None = raw.get("items")
        self._extra: Node | None = None
        self._items: Node | None = None
        self.defaulted = [
            name for name in self.required if "default" in self._raw_props.get(name, ())
        ]
        self.default = raw.get("default")
        self.unique: str = raw.get("list", "")
        list_keys = raw.get("keys", ())
        self.list_keys: tuple[str, ...] = tuple(list_keys)
        syntax = raw.get("keySyntax", "")
        self.key_syntax: Syntax | None = SYNTAXES.get(syntax)
        rules = raw.get("rules", ())
        self.rules: tuple[str, ...] = tuple(rules)
        self.branches = tuple(_branches(raw, table))
        self.tests = _tests(raw)
        self._ruled: bool | None = None
        self._with_default: list[str] | None = None
        self.plain = self.classes - {dict, list}
        if self.tests or self.branches:
            self.plain = _NOTHING

    def prop(self, name: str) -> Node | None:
        """The node of a declared property."""
        node = self.props.get(name)
        if node is None and name in self._raw_props:
            raw = self._raw_props[name]
            node = self._table.node(raw, self.strict)
            self.props[name] = node
        return node

    def child(self, key: str) -> Node | None:
        """The node of the value at a key: of a declared property, or of all others."""
        return self.prop(key) or self.extra

    @property
    def names(self) -> list[str]:
        """Names of the declared properties."""
        return list(self._raw_props)

    @property
    def names_with_default(self) -> list[str]:
        """Names of the declared properties that have a default."""
        if self._with_default is None:
            resolved = self._table.resolved
            props = self._raw_props.items()
            self._with_default = [name for name, raw in props if "default" in resolved(raw)]
        return self._with_default

    @property
    def extra(self) -> Node | None:
        """The node of properties that are not declared one by one."""
        if self._extra is None and self._raw_extra is not None:
            self._extra = self._table.node(self._raw_extra, self.strict)
        return self._extra

    @property
    def items(self) -> Node | None:
        """The node of a list's items."""
        if self._items is None and self._raw_items is not None:
            self._items = self._table.node(self._raw_items, self.strict)
        return self._items

    @property
    def ruled(self) -> bool:
        """Whether this node or one below it has CEL rules."""
        if self._ruled is None:
            # false while it is sought: a schema may contain itself
            self._ruled = bool(self.rules)
            below = map(self._table.node, children(self.raw))
            if not self._ruled:
                self._ruled = any(node.ruled for node in below)
        return self._ruled


class NodeTable:
    """The nodes of one derived file; a shared definition becomes one node."""

    def __init__(self, defs: list[Raw]) -> None:
        self._defs = defs
        self._nodes: dict[tuple[int, bool], Node] = {}

    def node(self, raw: Raw, strict: bool = True) -> Node:
        """The node of a subschema, through its reference if it is one."""
        raw = self.resolved(raw)
        key = (id(raw), strict)
        node = self._nodes.get(key)
        if node is None:
            node = Node(raw, self, strict)
            self._nodes[key] = node
        return node

    def resolved(self, raw: Raw) -> Raw:
        """A subschema, or what it refers to."""
        while "$ref" in raw:
            raw = self._defs[raw["$ref"]]
        return raw


def _classes_of(kinds: str | Sequence[str]) -> frozenset[type]:
    """The classes of the values of a type, or of several."""
    if isinstance(kinds, str):
        return CLASSES[kinds]
    classes = [CLASSES[kind] for kind in kinds]
    return _NOTHING.union(*classes)


def _branches(raw: Raw, table: NodeTable) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """The keywords of alternatives, each with the nodes of its branches."""
    for keyword in ("allOf", "anyOf", "oneOf", "not"):
        if keyword in raw:
            schemas = raw[keyword]
            if keyword == "not":
                schemas = [schemas]
            nodes = [table.node(schema, strict=False) for schema in schemas]
            yield keyword, tuple(nodes)


def _tests(raw: Raw) -> tuple[Test, ...]:
    """The tests of a node's value beyond its type, in the order in which their faults are reported."""
    tests: list[Test] = []
    if "enum" in raw:
        tests.append(_enum(raw["enum"]))
    if "syntax" in raw:
        name = raw["syntax"]
        syntax = SYNTAXES[name.removesuffix(_OR_EMPTY)]
        tests.append(_syntax(syntax, or_empty=name.endswith(_OR_EMPTY)))
    if "pattern" in raw:
        tests.append(_pattern(raw["pattern"]))
    limit = _INT_RANGE.get(raw.get("format", ""))
    if limit is not None:
        tests.append(_number(-limit, "at least", operator.ge))
        tests.append(_number(limit - 1, "at most", operator.le))
    for key, bound_test in _BOUND_TESTS.items():
        if key in raw:
            test = bound_test(raw[key])
            tests.append(test)
    return tuple(tests)


def _enum(values: list[Any]) -> Test:
    texts = frozenset(text for text in values if isinstance(text, str))
    # `1` and `true` are equal to Python, and not to JSON.
    others = [(other, isinstance(other, bool)) for other in values if not isinstance(other, str)]

    def test(value: Any) -> Breach | None:
        if value.__class__ is str:
            if value in texts:
                return None
        elif (value, isinstance(value, bool)) in others:
            return None
        from trainyard.verify.fault import nearest  # error path only

        named = [str(other) for other in values if other != ""]
        message = f"`{value}` is not one of {listed(named)}"
        help = nearest(str(value), named, "write one of them")
        return "SCH004", message, help

    return test


_OR_EMPTY = "?"
"""Behind the name of a syntax: of a field that may be empty, which means that it is not set."""


def _syntax(syntax: Syntax, *, or_empty: bool) -> Test:
    def test(value: Any) -> Breach | None:
        if value.__class__ is not str or syntax.accepts(value):
            return None
        if or_empty and not value:
            return None
        return syntax.code, syntax.breach(value), syntax.advice(value)

    return test


def _pattern(pattern: str) -> Test:
    try:
        search = compile_re2(pattern).search
    except PatternError:
        return lambda value: (
            "SCH009",
            f"the pattern `{pattern}` cannot be evaluated here",
            "the API server will say; nothing to change here",
        )

    def test(value: Any) -> Breach | None:
        if value.__class__ is not str or search(value):
            return None
        return "SCH006", *in_words(pattern, value)

    return test


def _number(bound: float, words: str, holds: Callable[[Any, Any], bool]) -> Test:
    def test(value: Any) -> Breach | None:
        if value.__class__ not in (int, float):
            return None
        if holds(value, bound):
            return None
        message = f"{value} is not {words} {bound}"
        return "SCH005", message, f"write a value {words} {bound}"

    return test


def _length(side: str, unit: str, classes: Sized) -> Callable[[int], Test]:
    if side == "at least":
        holds = operator.ge
    else:
        holds = operator.le

    def bound_test(bound: int) -> Test:
        def test(value: Any) -> Breach | None:
            if not isinstance(value, classes):
                return None
            if holds(len(value), bound):
                return None
            verb = "is" if bound == 1 else "are"
            allowed = f"{side} {bound} {verb} allowed"
            message = f"{len(value)} {unit} where {allowed}"
            return "SCH005", message, f"write {side} {bound}"

        return test

    return bound_test


_BOUND_TESTS: dict[str, Callable[[Any], Test]] = {
    "minimum": lambda bound: _number(bound, "at least", operator.ge),
    "maximum": lambda bound: _number(bound, "at most", operator.le),
    "exclusiveMinimum": lambda bound: _number(bound, "above", operator.gt),
    "exclusiveMaximum": lambda bound: _number(bound, "below", operator.lt),
    "multipleOf": lambda step: _number(
        step, "a multiple of", lambda value, unit: value % unit == 0
    ),
    "minLength": _length("at least", "characters", str),
    "maxLength": _length("at most", "characters", str),
    "minItems": _length("at least", "items", list),
    "maxItems": _length("at most", "items", list),
    "minProperties": _length("at least", "keys", dict),
    "maxProperties": _length("at most", "keys", dict),
}
