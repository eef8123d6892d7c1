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


def intended(
    body: Body,
    faults: Iterable[Fault],
) -> tuple[Body, set[Path]]:
    """The body as it was meant, and the places where that is known.

    An unknown field gets the name that it is nearly called, a value the type that is wanted; what is unknown is
    removed. Placeholders stay what they are.
    """
    wrong = [fault for fault in faults if fault.code in _SHAPE or fault.instead]
    if not wrong:
        return body, set()
    body = deepcopy(body)
    known: set[Path] = set()
    for fault in wrong:
        *above, key = fault.path or ("",)
        parent = at(body, *above)
        if not isinstance(parent, dict | list):
            continue
        if is_placeholder(at(parent, key)):
            continue
        if _correct(parent, key, fault):
            known.add(fault.path)
    return body, known


def _correct(
    parent: Any,
    key: Any,
    fault: Fault,
) -> bool:
    """Correct the value at a key, or remove it; whether it is known what was meant."""
    if fault.instead:
        parent[key] = fault.instead[0]
        return True
    if isinstance(parent, list):
        return False
    value = parent.pop(key, None)
    if fault.meant and fault.meant not in parent:
        parent[fault.meant] = value
    return bool(fault.meant)


def is_placeholder(value: Any) -> bool:
    """Whether a value is filled in later."""
    return isinstance(value, str) and placeholder(value)


def neighbors(
    faults: Iterable[Fault],
    known: set[Path],
) -> list[Path]:
    """The places that depend on an unknown value: request and limit of one resource depend on each other,
    and so do the fields of an item."""
    places = []
    for fault in faults:
        is_unknown = fault.code == "SCH002" and fault.path not in known
        if is_unknown and len(fault.path) > _DEEP:
            places.append(fault.path[:-2])
    return places


_DEEP = 3  # an object, its `spec` and a field are no neighbours


def has_shape(faults: Iterable[Fault]) -> bool:
    """Whether a body with these faults has the shape of its schema, as far as types go."""
    codes = {fault.code for fault in faults}
    return codes.isdisjoint(("SCH002", "SCH013"))


def misfit(
    body: Any,
    faults: Iterable[Fault],
) -> int:
    """How much of a body a schema does not understand, in scalars."""
    misunderstood = [at(body, *fault.path) for fault in faults]
    return sum(map(_size, misunderstood))


def _size(value: Any) -> int:
    """How many scalars a value holds; an empty mapping or list counts as one."""
    size = 0
    for _, part in walk_values(value):
        is_container = isinstance(part, dict | list)
        if not part or not is_container:
            size += 1
    return size
