"""A body as it was probably meant, so that one fault of an object does not hide others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from trainyard.output.body import value_at, walk_values
from trainyard.output.manifest import Body, placeholder
from trainyard.verify.fault import Fault, Path

# Faults of shape: an unknown field, and a value of another type. What else a schema refuses has the shape that the
# checks after it rely on.
_SHAPE = ("SCH001", "SCH002")


class Meant(NamedTuple):
    """A body as it was meant: the places where that is known, where what was renamed or moved is written, and the
    places of what was moved or converted, which nobody has looked at."""

    body: Body
    known: set[Path]
    written: dict[Path, Path]
    unseen: frozenset[Path] = frozenset()

    def then(self, other: Meant) -> Meant:
        """What was meant by a body that was corrected before."""
        written = dict(self.written)
        for place, origin in other.written.items():
            written[place] = as_written(origin, self.written)
        known = {as_written(path, self.written) for path in other.known}
        known |= self.known | other.known
        return Meant(other.body, known, written, other.unseen)


def as_written(path: Path, written: Mapping[Path, Path]) -> Path:
    """The path in a file to what stands at a path in the corrected body."""
    for depth in range(len(path), 0, -1):
        origin = written.get(path[:depth])
        if origin is not None:
            return (*origin, *path[depth:])
    return path


def intended(body: Body, faults: Iterable[Fault]) -> Meant:
    """The body as it was meant, and the places where that is known.

    An unknown field gets the name that it is nearly called, a value the type that is wanted; what is unknown is
    removed. Placeholders stay what they are.
    """
    faults = list(faults)
    named = _named(faults)
    wrong = [fault for fault in faults if fault.code in _SHAPE or fault.instead]
    if not wrong:
        return Meant(body, set(), {})
    body = deepcopy(body)
    known: set[Path] = set()
    written: dict[Path, Path] = {}
    unseen: set[Path] = set()
    for fault in wrong:
        *above, key = fault.path or ("",)
        parent = value_at(body, *above)
        value = value_at(body, *fault.path)
        # What an earlier fault moved or converted has no such place any more.
        if value is None or is_placeholder(value):
            continue
        if fault.path == _TOO_DEEP and "spec" not in body:
            body["spec"] = body["metadata"].pop("spec")
            known |= {_TOO_DEEP, ("spec",)}
            written["spec",] = _TOO_DEEP
            continue
        if fault.belongs:
            if _move(body, fault):
                known |= {fault.path, fault.belongs}
                written[fault.belongs] = fault.path
                unseen.add(fault.belongs)
            continue
        meant = fault.meant or named.get(fault.path, "")
        is_free = not isinstance(parent, dict) or meant not in parent
        if _correct(parent, key, fault, meant):
            known.add(fault.path)
            items = _converted(fault, value)
            written |= items
            unseen |= items.keys()
            if meant and is_free:
                known.add((*above, meant))
                written[(*above, meant)] = fault.path
    return Meant(body, known, written, frozenset(unseen))


def _move(body: Body, fault: Fault) -> bool:
    """Move a field to the place where it belongs; whether it could be moved."""
    *above, key = fault.path
    *around, name = fault.belongs
    target: Any = body
    for step in around:
        if isinstance(target, dict):
            target = target.setdefault(step, {})
        elif isinstance(target, list) and isinstance(step, int) and step < len(target):
            target = target[step]
        else:
            return False
    source = value_at(body, *above)
    if not isinstance(target, dict) or not isinstance(source, dict) or name in target:
        return False
    target[name] = source.pop(key)
    return True


def _converted(fault: Fault, value: Any) -> dict[Path, Path]:
    """Where the items of a list stand that was written as one item, or as a mapping of names to values."""
    if not fault.instead or not isinstance(fault.instead[0], list) or isinstance(value, list):
        return {}
    items = fault.instead[0]
    if items == [value]:
        return {(*fault.path, 0): fault.path}
    if not isinstance(value, dict):
        return {(*fault.path, index): fault.path for index in range(len(items))}
    return {(*fault.path, index): (*fault.path, name) for index, name in enumerate(value)}


_TOO_DEEP = ("metadata", "spec")
"""Where the spec of an object stands that is indented like the name of it."""


def _correct(parent: Any, key: Any, fault: Fault, meant: str) -> bool:
    """Correct the value at a key, or remove it; whether it is known what was meant."""
    if fault.instead:
        parent[key] = fault.instead[0]
        return True
    if isinstance(parent, list):
        return False
    value = parent.pop(key, None)
    if meant and meant not in parent:
        parent[meant] = value
    return bool(meant)


def _named(faults: Iterable[Fault]) -> dict[Path, str]:
    """Unknown fields that must be the one missing field of the same object."""
    missing: dict[Path, list[str]] = {}
    unknown: dict[Path, list[Path]] = {}
    for fault in faults:
        if fault.code == "SCH003":
            missing.setdefault(fault.path[:-1], []).append(str(fault.path[-1]))
        elif fault.code == "SCH001":
            unknown.setdefault(fault.path[:-1], []).append(fault.path)
    return {
        fields[0]: missing[parent][0]
        for parent, fields in unknown.items()
        if len(fields) == 1 and len(missing.get(parent, ())) == 1
    }


def is_placeholder(value: Any) -> bool:
    """Whether a value is filled in later."""
    return isinstance(value, str) and placeholder(value)


def neighbors(faults: Iterable[Fault], known: set[Path]) -> list[Path]:
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


def misfit(body: Any, faults: Iterable[Fault]) -> int:
    """How much of a body a schema does not understand, in scalars. What breaks a bound is understood."""
    misunderstood = [value_at(body, *fault.path) for fault in faults if fault.code != "SCH005"]
    return sum(map(_size, misunderstood))


def _size(value: Any) -> int:
    """How many scalars a value holds; an empty mapping or list counts as one."""
    size = 0
    for _, part in walk_values(value):
        is_container = isinstance(part, dict | list)
        if not part or not is_container:
            size += 1
    return size
