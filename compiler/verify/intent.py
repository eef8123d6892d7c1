"""A body as it was meant: one fault of an object does not hide the others."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from compiler.manifest import Body, placeholder
from compiler.output.body import at, walk_values
from compiler.verify.fault import Fault, Path

# Faults of shape: an unknown field, and a value of another type. What else a schema refuses has the shape that the
# checks after it rely on.
_SHAPE = ("SCH001", "SCH002")


def intended(body: Body, faults: Iterable[Fault]) -> tuple[Body, set[Path]]:
    """The body with fields by the names that unknown ones are nearly called, with values of the type that is wanted,
    and without what nobody can tell; and the places of which that is known. Placeholders stay what they are."""
    wrong = [each for each in faults if each.code in _SHAPE or each.instead]
    if not wrong:
        return body, set()
    body, known = deepcopy(body), set[Path]()
    for fault in wrong:
        parent, key = at(body, *fault.path[:-1]), fault.path[-1] if fault.path else ""
        if not isinstance(parent, dict | list) or later(at(parent, key)):
            continue
        if _mended(parent, key, fault):
            known.add(fault.path)
    return body, known


def _mended(parent: Any, key: Any, fault: Fault) -> bool:
    """Put right what is wrong at a key; whether it is known what was meant."""
    if fault.instead:
        parent[key] = fault.instead[0]
        return True
    if isinstance(parent, list):
        return False
    value = parent.pop(key, None)
    if fault.meant and fault.meant not in parent:
        parent[fault.meant] = value
    return bool(fault.meant)


def later(value: Any) -> bool:
    """Whether a value is filled in later."""
    return isinstance(value, str) and placeholder(value)


def around(faults: Iterable[Fault], known: set[Path]) -> list[Path]:
    """The places about which nothing can be said for a value that nobody can tell: request and limit of one resource
    depend on each other, and so do the fields of an item."""
    return [
        each.path[:-2]
        for each in faults
        if each.code == "SCH002" and each.path not in known and len(each.path) > _DEEP
    ]


_DEEP = 3  # an object, its `spec` and a field are no neighbours


def shaped(faults: Iterable[Fault]) -> bool:
    """Whether a body has the shape of its schema, as far as types go."""
    return not any(each.code in ("SCH002", "SCH013") for each in faults)


def misfit(body: Any, faults: Iterable[Fault]) -> int:
    """How much of a body a schema does not understand, in values."""
    return sum(_size(at(body, *each.path)) for each in faults)


def _size(value: Any) -> int:
    """How many scalars a value holds; an empty mapping or list counts as one."""
    return sum(
        not part or not isinstance(part, dict | list) for _, part in walk_values(value)
    )
