"""JSON patches (RFC 6902), as Kustomize applies them (github.com/evanphx/json-patch v4): a path that is not there is a
fault, for ``remove`` too."""

from __future__ import annotations

from collections.abc import Callable

from trainyard.eks.overrides.plan import Operation
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places import Key, Route
from trainyard.run.patching.place import Draft, PatchError, Path

_SHOWN = 12


def operate(draft: Draft, operation: Operation, at: Route) -> None:
    """Apply one operation. Raises ``PatchError`` where it does not apply."""
    _OPERATIONS[operation.op](draft, operation, at)


def _add(draft: Draft, operation: Operation, at: Route) -> None:
    _insert(draft, operation.path, operation.value, at / "path", at / "value")


def _insert(draft: Draft, pointer: str, value: object, at: Route, source: Route) -> None:
    path = _new(draft, pointer, at)
    if isinstance(path[-1], int):
        draft.insert(path, value, source)
    else:
        draft.put(path, value, source)


def _remove(draft: Draft, operation: Operation, at: Route) -> None:
    draft.remove(_existing(draft, operation.path, at / "path"), at / "path")


def _replace(draft: Draft, operation: Operation, at: Route) -> None:
    path = _existing(draft, operation.path, at / "path")
    value = operation.value
    draft.put(path, value, at / "value")


def _move(draft: Draft, operation: Operation, at: Route) -> None:
    place = at / "from"
    origin = _existing(draft, operation.origin, place)
    value = draft.at(origin)
    draft.remove(origin, place)
    _insert(draft, operation.path, value, at / "path", at)


def _copy(draft: Draft, operation: Operation, at: Route) -> None:
    origin = _existing(draft, operation.origin, at / "from")
    value = draft.at(origin)
    _insert(draft, operation.path, value, at / "path", at)


def _test(draft: Draft, operation: Operation, at: Route) -> None:
    value = draft.at(_existing(draft, operation.path, at / "path"))
    is_of_type = type(value) is type(operation.value)
    if not is_of_type or value != operation.value:
        raise PatchError(
            "RES086",
            f"`{operation.path}` is `{value}`, not `{operation.value}`",
            at / "value",
            "write the value that it has, or remove the test",
        )


_OPERATIONS: dict[str, Callable[[Draft, Operation, Route], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _existing(draft: Draft, pointer: str, at: Route) -> Path:
    """The path of something that is there."""
    return _path(draft, pointer, at, new=False)


def _new(draft: Draft, pointer: str, at: Route) -> Path:
    """The path of something that may be added: what would hold it is there."""
    return _path(draft, pointer, at, new=True)


def _path(draft: Draft, pointer: str, at: Route, *, new: bool) -> Path:
    path: Path = ()
    tokens = pointer.split("/")[1:]
    for place, token in enumerate(tokens):
        last = new and place == len(tokens) - 1
        key = _key(draft, path, token, last=last)
        if key is None:
            raise _missing(draft, pointer, path, token, at)
        path = (*path, key)
    return path


def _key(draft: Draft, path: Path, token: str, *, last: bool) -> Key | None:
    """The key that a token of a JSON pointer names; ``None`` if it is absent. ``last``: it may be a new key."""
    value = draft.at(path)
    name = token.replace("~1", "/").replace("~0", "~")
    if isinstance(value, dict):
        if last or name in value:
            return name
        return None
    if isinstance(value, list):
        if last and name == "-":
            return len(value)
        if name.isdecimal():
            index = int(name)
        else:
            index = -1
        if last:
            end = len(value) + 1
        else:
            end = len(value)
        if 0 <= index < end:
            return index
        return None
    return None


def _missing(draft: Draft, pointer: str, path: Path, token: str, at: Route) -> PatchError:
    value = draft.at(path)
    above = "".join([f"/{key}" for key in path]) or "the object"
    if isinstance(value, dict):
        keys = [str(key) for key in value]
        otherwise = f"{above} has {listed(keys[:_SHOWN])}"
        help = name_meant(token, keys) or otherwise
    elif isinstance(value, list):
        help = f"{above} has {len(value)} items, the first is 0; `-` adds one at the end"
    else:
        help = f"{above} is `{value}`, and holds nothing"
    return PatchError("RES086", f"there is no `{pointer}`", at, help)
