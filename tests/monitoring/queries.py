"""What a query of Prometheus names: its metrics, and the labels that it asks each of them for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import promql_parser

CREATES = {"label_replace": 1, "label_join": 1}
"""Functions that make a label, with the place of its name in their arguments."""


def selectors(node: Any) -> Iterator[Any]:
    """Every selector of a query."""
    kind = type(node).__name__
    if kind == "VectorSelector":
        yield node
    elif kind == "MatrixSelector":
        yield node.vector_selector
    for name in ("expr", "lhs", "rhs", "param"):
        child = getattr(node, name, None)
        if child is not None and not isinstance(child, str):
            yield from selectors(child)
    for child in getattr(node, "args", None) or ():
        yield from selectors(child)


def metrics(query: str) -> dict[str, set[str]]:
    """The metrics of a query, each with the labels of its selectors."""
    found: dict[str, set[str]] = {}
    for selector in selectors(promql_parser.parse(query)):
        labels = {matcher.name for matcher in selector.matchers.matchers}
        found.setdefault(selector.name, set()).update(labels)
    return found


def grouped(node: Any) -> Iterator[tuple[set[str], Any]]:
    """The labels that aggregations and matchings name, each with the part of the query that must have them."""
    modifier = getattr(node, "modifier", None)
    if type(node).__name__ == "AggregateExpr" and modifier is not None:
        yield set(modifier.labels), node.expr
    if type(node).__name__ == "BinaryExpr" and modifier is not None:
        named = set(modifier.matching.labels) if modifier.matching is not None else set()
        yield named, node.lhs
        extra = set(modifier.group_labels or ())
        yield named | extra, node.rhs
    for name in ("expr", "lhs", "rhs", "param"):
        child = getattr(node, name, None)
        if child is not None and not isinstance(child, str):
            yield from grouped(child)
    for child in getattr(node, "args", None) or ():
        yield from grouped(child)


def made(node: Any, known: dict[str, frozenset[str]]) -> set[str]:
    """The labels that the result of a part may have: those of its metrics, cut by aggregations, and those made."""
    kind = type(node).__name__
    if kind == "VectorSelector":
        return set(known[node.name])
    if kind == "MatrixSelector":
        return set(known[node.vector_selector.name])
    if kind == "AggregateExpr":
        inner = made(node.expr, known)
        return inner & set(node.modifier.labels) if node.modifier is not None else set()
    if kind == "BinaryExpr":
        left, right = made(node.lhs, known), made(node.rhs, known)
        if str(node.op) == "or":
            return left | right
        modifier = node.modifier
        if modifier is not None and modifier.group_labels:
            return left | set(modifier.group_labels)
        return left or right
    if kind == "Call":
        found: set[str] = set()
        for argument in node.args:
            found |= made(argument, known)
        if node.func.name in CREATES:
            found.add(node.args[CREATES[node.func.name]].val)
        return found
    inner = getattr(node, "expr", None)
    return made(inner, known) if inner is not None else set()
