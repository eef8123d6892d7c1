"""The rules of a definition (``x-kubernetes-validations``), evaluated on a body as the API server stores it.

A rule that cannot be evaluated here is a fault of its own (``SCH009``): it never counts as one that holds. A rule that
fails while it runs is a refusal, as it is for the API server. Rules with ``oldSelf`` are about updates. Of a rule about
every item of a list or a mapping, the items that break it are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from trainyard.language.places import Key
from trainyard.output.body import value_at
from trainyard.verify.cel import NotEvaluatedError, broken
from trainyard.verify.defaults import defaulted
from trainyard.verify.fault import CEL, Fault, Path
from trainyard.verify.node import Node
from trainyard.verify.rule_words import in_words


def rule_faults(root: Node, body: dict[str, Any]) -> list[Fault]:
    """Faults of the rules of a kind on a body."""
    if not root.ruled:
        return []
    return list(_faults(root, body, ()))


def update_faults(root: Node, body: dict[str, Any], old: dict[str, Any]) -> list[Fault]:
    """Faults of the rules of a kind about an update, on a body and what it was."""
    if not root.ruled:
        return []
    return list(_update_faults(root, body, old, ()))


def _faults(node: Node, value: Any, path: Path) -> Iterator[Fault]:
    for rule in node.rules:
        names = _names(rule)
        if _OLD not in names:
            yield from _of_rule(rule, _read(node, value, names), path)
    for key, child, item in _ruled(node, value):
        yield from _faults(child, item, (*path, key))


def _update_faults(node: Node, value: Any, old: Any, path: Path) -> Iterator[Fault]:
    for rule in node.rules:
        if _OLD in _names(rule):
            yield from _of_rule(rule, defaulted(node, value), path, defaulted(node, old))
    olds = _by_key(node, old)
    for key, child, item in _ruled(node, value):
        own_key = _key(node, item) if isinstance(key, int) else key
        if own_key in olds:
            yield from _update_faults(child, item, olds[own_key], (*path, key))


def _ruled(node: Node, value: Any) -> Iterator[tuple[Key, Node, Any]]:
    """The parts of a value, and those that it has by default, that have rules somewhere."""
    if isinstance(value, list):
        item_node = node.items
        if item_node is not None and item_node.ruled:
            for index, item in enumerate(value):
                yield index, item_node, item
    if not isinstance(value, dict):
        return
    for key in (*value, *node.names_with_default):
        child = node.child(key)
        if child is None or not child.ruled:
            continue
        item = value.get(key)
        if (
            item is None and not child.nullable
        ):  # a null where none may be is as if it were not there
            item = child.default
        if item is not None:
            yield key, child, item


def _by_key(node: Node, old: Any) -> Mapping[Any, Any]:
    """Old values by their keys, items by their list-map keys. Items of other lists have no old value
    (structural-merge-diff semantics)."""
    if isinstance(old, dict):
        return old
    if node.unique == "map" and isinstance(old, list):
        return {_key(node, item): item for item in old}
    return {}


def _key(node: Node, item: Any) -> Any:
    if not isinstance(item, dict):
        return None
    parts = [item.get(name) for name in node.list_keys]
    return tuple(map(str, parts))


_OLD = "oldSelf"


@lru_cache(maxsize=1024)
def _names(rule: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", rule))


def _read(node: Node, value: Any, names: frozenset[str]) -> Any:
    """What a rule can read of a value: a property that the definition declares is read by its name alone."""
    if not isinstance(value, dict):
        return defaulted(node, value)
    read = {
        key: item
        for key, item in value.items()
        if key in names or not key.isidentifier() or node.prop(key) is None
    }
    return defaulted(node, read)


def _of_rule(rule: str, value: Any, path: Path, old: Any = None) -> Iterator[Fault]:
    """The faults of one rule, if it does not hold."""
    try:
        reason = broken(rule, value, old)
        if reason is None:
            return
        places = _places(rule, value)
    except NotEvaluatedError as problem:
        message = f"the rule `{_short(rule)}` {problem}"
        help = "the API server will say; nothing to change here"
        yield Fault(CEL, "SCH009", path, message, help)
        return
    for place in places or [()]:
        words = in_words(rule, value_at(value, *place), place[-1] if place else "")
        if words is not None:
            where = (*path, *place, *words.field)
            yield Fault(CEL, "SCH008", where, words.message, words.help, words.key)
            continue
        fact = f"fails here: {reason}" if reason else "does not hold"
        message = f"the rule `{_short(rule)}` {fact}"
        help = "the rule is in the CustomResourceDefinition; change the value so that it holds"
        yield Fault(CEL, "SCH008", (*path, *place), message, help)


_OF_ALL = re.compile(r"!?self((?:\.\w+)*)\.all\(")
_OF_NONE = re.compile(r"!self((?:\.\w+)*)\.exists\(")
"""A rule that begins with what holds for all items, or for none."""


def _places(rule: str, value: Any) -> list[tuple[Key, ...]]:
    """The items that break a rule about every item of a list or a mapping, each by itself; else the first item that
    breaks it together with those before it."""
    text = rule.strip()
    every = _OF_ALL.match(text) or _OF_NONE.match(text)
    inner = tuple(every[1].split(".")[1:]) if every is not None else ()
    items = value_at(value, *inner)
    parts: list[tuple[Key, Any]]
    if isinstance(items, list):
        parts = [(index, [item]) for index, item in enumerate(items)]
    elif isinstance(items, dict) and every is not None:
        parts = [(key, {key: item}) for key, item in items.items()]
    else:
        return []

    def breaks(part: Any) -> bool:
        return broken(rule, _with(value, inner, part)) is not None

    alone = [key for key, part in parts if every is not None and breaks(part)]
    if not alone and isinstance(items, list):
        ends = range(1, len(items) + 1)
        last = next((end for end in ends if breaks(items[:end])), 0) - 1
        alone = [last] if last > 0 else []
    return [(*inner, key) for key in alone]


def _with(value: Any, path: tuple[str, ...], inner: Any) -> Any:
    """The value with another one at a path."""
    if not path:
        return inner
    key, *rest = path
    return {**value, key: _with(value[key], tuple(rest), inner)}


def _short(rule: str) -> str:
    text = " ".join(rule.split())
    if len(text) <= _SHOWN:
        return text
    return f"{text[: _SHOWN - 3]}…"


_SHOWN = 160
"""Most characters of a rule that are shown."""
