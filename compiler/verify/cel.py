"""CEL rules of CRDs, with the optional package ``common-expression-language`` (0.10; import name ``cel``).

Of the functions that Kubernetes adds to CEL, upstream rules of our kinds use ``find`` and ``split``; they are given
here. A rule that cannot be evaluated is a fault of its own (``SCH009``): it never counts as one that holds. A rule
that fails while it runs (no such key) is a refusal, as it is for the API server. Rules with ``oldSelf`` are evaluated
only where there is an old value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from compiler.re2 import compile_re2
from compiler.verify.defaults import defaulted
from compiler.verify.fault import CEL, Fault, Path
from compiler.verify.node import Node

_OLD = re.compile(r"\boldSelf\b")
_ABSENT = object()


def available() -> bool:
    """Whether the package is installed."""
    return find_spec("cel") is not None


def evaluate(root: Node, body: dict[str, Any], old: dict[str, Any] | None = None) -> list[Fault]:
    """Faults of all rules of a kind on a body, and of its update rules against the old body if there is one."""
    if not root.ruled:
        return []
    if not available():
        message = "the rules of this kind were not evaluated: `common-expression-language` is not installed"
        return [Fault(CEL, "SCH009", (), message, "install `trainyard[cel]`", warning=True)]
    if old is None:
        before = _ABSENT
    else:
        before = defaulted(root, old)
    return list(_evaluate(root, defaulted(root, body), before, ()))


def _evaluate(node: Node, value: Any, old: Any, path: Path) -> Iterator[Fault]:
    for rule in node.rules:
        is_transition = _OLD.search(rule) is not None
        if is_transition and old is _ABSENT:
            continue
        before = old if is_transition else _ABSENT
        fault = _fault_of(rule, value, before, path)
        if fault is not None:
            yield fault
    if isinstance(value, dict):
        if isinstance(old, dict):
            old_body = old
        else:
            old_body = {}
        for key, item in value.items():
            child = node.child(key)
            if child is not None and child.ruled:
                old_item = old_body.get(key, _ABSENT)
                place = (*path, key)
                yield from _evaluate(child, item, old_item, place)
        return
    if not isinstance(value, list):
        return
    item_node = node.items
    if item_node is None or not item_node.ruled:
        return
    old_items = _by_key(node, old)
    for index, item in enumerate(value):
        old_item = old_items.get(_key(node, item), _ABSENT)
        place = (*path, index)
        yield from _evaluate(item_node, item, old_item, place)


def _by_key(node: Node, old: Any) -> dict[Any, Any]:
    """Old items by their list-map keys. Items of other lists have no old value (structural-merge-diff semantics)."""
    is_map = node.unique == "map"
    if not is_map or not isinstance(old, list):
        return {}
    return {_key(node, item): item for item in old}


def _key(node: Node, item: Any) -> Any:
    if not isinstance(item, dict):
        return None
    parts = [item.get(name) for name in node.list_keys]
    return tuple(map(str, parts))


def _fault_of(rule: str, value: Any, old: Any, path: Path) -> Fault | None:
    """The fault of one rule, if it does not hold."""
    try:
        program = compiled(rule)
    except Exception as problem:  # a text that is no CEL, or none that this engine reads
        return _not_evaluated(rule, "compiled", problem, path)
    context = _context()
    context.add_variable("self", value)
    context.add_variable("oldSelf", None if old is _ABSENT else old)
    try:
        held = program.execute(context)
    except Exception as problem:  # of a class of its own for every kind of failure
        if "Undefined variable or function" in str(problem):
            return _not_evaluated(rule, "evaluated", problem, path)
        message = f"the rule `{_short(rule)}` fails here: {problem}"
        help = "the API server refuses what its rule fails on; change the value"
        return Fault(CEL, "SCH008", path, message, help)
    if held is True:
        return None
    message = f"the rule `{_short(rule)}` does not hold"
    help = "the rule is in the CustomResourceDefinition; change the value so that it holds"
    return Fault(CEL, "SCH008", path, message, help)


def _not_evaluated(rule: str, step: str, problem: Exception, path: Path) -> Fault:
    shown = _short(rule)
    message = f"the rule `{shown}` cannot be {step} here: {problem}"
    help = "the API server will say; nothing to change here"
    return Fault(CEL, "SCH009", path, message, help)


def _short(rule: str) -> str:
    text = " ".join(rule.split())
    if len(text) <= _SHOWN:
        return text
    beginning = text[: _SHOWN - 3]
    return f"{beginning}…"


_SHOWN = 160
"""Most characters of a rule that are shown."""


@lru_cache(maxsize=1024)
def compiled(expression: str) -> Any:
    """An expression as the engine runs it. Raises what the engine's parser raises."""
    import logging

    import cel

    # The engine logs what a function raises, and raises it as well.
    logging.getLogger("cel").disabled = True
    return cel.compile(expression)


@lru_cache(maxsize=1)
def _context() -> Any:
    import cel

    return cel.Context(functions={"find": _find, "split": split})


def _find(text: str, pattern: str) -> str:
    """The first match of a pattern, or the empty text (k8s.io/apiserver pkg/cel/library/regex.go)."""
    match = compile_re2(pattern).search(text)
    return match[0] if match else ""


def split(text: str, separator: str, limit: int = -1) -> list[str]:
    """The parts of a text between separators; its letters where the separator is empty. ``limit``: so many parts at
    most, of which the last is the rest; below 0 there is none."""
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if 0 < limit < len(text):
        return [*text[: limit - 1], text[limit - 1 :]]
    return list(text)
