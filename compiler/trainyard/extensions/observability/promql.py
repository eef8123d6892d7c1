"""What a query of Prometheus names: its metrics, and the labels by which it selects them.

Queries are read by `promql-parser`, which knows the language of Prometheus 2 and most of 3. One that it cannot read is
of unknown content, and not refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.re2 import PatternError, compile_re2

_TIME = r"\$(?:\{\w+(?::\w+)?\}|\w+)(?=\s*[\]:])"
_PARTS = ("expr", "lhs", "rhs", "param", "vector_selector")


@dataclass(frozen=True, slots=True)
class Selector:
    """A metric with the labels that its series must have: those whose value may not be empty."""

    metric: str
    labels: frozenset[str]


def of_dashboard(query: str) -> str:
    """A query of a dashboard as Prometheus sees one: with a time for each that Grafana puts in."""
    return re.sub(_TIME, "5m", query)


@lru_cache(maxsize=4096)
def selectors(query: str) -> tuple[Selector, ...]:
    """The selectors of a query that name a metric; none of a query that cannot be read."""
    import promql_parser  # where queries are judged alone

    try:
        tree = promql_parser.parse(query)
    except ValueError:
        return ()
    return tuple(_selector(each) for each in _selecting(tree) if each.name)


def _selecting(node: Any) -> Iterator[Any]:
    if type(node).__name__ == "VectorSelector":
        yield node
        return
    for name in _PARTS:
        child = getattr(node, name, None)
        if child is not None and not isinstance(child, str):
            yield from _selecting(child)
    for child in getattr(node, "args", None) or ():
        yield from _selecting(child)


def _selector(node: Any) -> Selector:
    matchers = node.matchers.matchers
    asked = [matcher.name for matcher in matchers if _asks_for_one(matcher)]
    return Selector(node.name, frozenset(asked))


def _asks_for_one(matcher: Any) -> bool:
    """Whether series without the label do not match: Prometheus takes an absent label for an empty one."""
    kind = str(matcher.op).rpartition(".")[2]
    if kind == "Equal":
        return bool(matcher.value)
    if kind == "Re":
        return "$" not in matcher.value and not _matches_nothing(matcher.value)
    return False


def _matches_nothing(pattern: str) -> bool:
    try:
        return compile_re2(pattern).fullmatch("") is not None
    except PatternError:
        return True
