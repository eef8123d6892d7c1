"""The structural walk: types, unknown fields, required fields, bounds and list keys in one pass, without touching the
body.

As the API server does: a null where the schema is not nullable counts as absent (it is pruned), a default satisfies
``required``. Source: k8s.io/apiextensions-apiserver v0.36 pkg/apiserver/schema/{defaulting,pruning,listtype},
pkg/apiserver/validation.
"""

from __future__ import annotations

import re
from typing import Any

from compiler.diagnostics.diagnostic import listed
from compiler.source import Key
from compiler.verify.defaults import defaulted
from compiler.verify.fault import (
    LIST,
    NAME,
    SCHEMA,
    UNKNOWN,
    Fault,
    Path,
    like,
    nearest,
)
from compiler.verify.node import Breach, Node

Trail = (
    tuple[Any, Key] | None
)  # (trail of the parent, key): cheap to extend, made a path only for a fault
Sound = set[tuple[int, int]]
"""Ids of schema nodes, and of values without fault by them. What is one object in many places is walked once; whoever
makes the set keeps the values alive and unchanged as long as it is used."""

_NAMES = {
    dict: "a mapping",
    list: "a list",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
}


def walk(root: Node, body: Any, sound: Sound | None = None) -> list[Fault]:
    """All structural faults of a body. ``sound``: what is known of its parts already, and learnt."""
    faults: list[Fault] = []
    _walk(root, body, None, faults, set() if sound is None else sound)
    return faults


def path_of(trail: Trail) -> Path:
    keys: list[Key] = []
    while trail is not None:
        trail, key = trail
        keys.append(key)
    return tuple(reversed(keys))


def _walk(
    node: Node, value: Any, trail: Trail, faults: list[Fault], sound: Sound
) -> None:
    cls = value.__class__
    inside = cls is dict or cls is list
    if inside and (id(node), id(value)) in sound:
        return
    before = len(faults)
    classes = node.classes
    if classes and cls not in classes and not _passes(node, value):
        faults.append(_wrong_type(node, value, trail))
        return
    if (
        node.tests
    ):  # keys are counted as the API server does: after nulls went and defaults came
        _test(node, defaulted(node, value) if cls is dict else value, trail, faults)
    if cls is dict:
        _object(node, value, trail, faults, sound)
    elif cls is list:
        _list(node, value, trail, faults, sound)
    if node.branches:
        _branches(node, value, trail, faults, sound)
    if inside and len(faults) == before:
        sound.add((id(node), id(value)))


def _test(node: Node, value: Any, trail: Trail, faults: list[Fault]) -> None:
    for test in node.tests:
        if (breach := test(value)) is not None:
            faults.append(_breach(node, value, breach, trail))  # noqa: PERF401  nearly always none


def _breach(node: Node, value: Any, breach: Breach, trail: Trail) -> Fault:
    code, message, help = breach
    near = like(str(value), map(str, node.raw["enum"])) if code == "SCH004" else ""
    return Fault(
        NAME if code.startswith("NAM") else SCHEMA,
        code,
        path_of(trail),
        message,
        help,
        instead=(near,) if near else (),
    )


def _passes(node: Node, value: Any) -> bool:
    """Values of another class that are right all the same: a null that is one, and 1.0, an integer in JSON Schema."""
    if value is None:
        return node.nullable
    return value.__class__ is float and int in node.classes and value.is_integer()


def _object(
    node: Node, value: dict[str, Any], trail: Trail, faults: list[Fault], sound: Sound
) -> None:
    props, extra, key_syntax = node.props, node.extra, node.key_syntax
    for key, item in value.items():
        child = props.get(key) or node.prop(key) or extra
        if key_syntax is not None and not key_syntax.accepts(key):
            message, help = key_syntax.breach(key), f"use {key_syntax.help}"
            faults.append(
                Fault(
                    NAME,
                    key_syntax.code,
                    path_of((trail, key)),
                    message,
                    help,
                    key=True,
                )
            )
        if child is None:
            if node.strict and not node.open and item is not None:
                faults.append(_unknown(node, key, trail))
        elif item.__class__ not in child.plain and (item is not None or child.nullable):
            _walk(child, item, (trail, key), faults, sound)
    for key in node.required:
        if (
            value.get(key) is None
            and key not in node.defaulted
            and not _null_is_a_value(node, key, value)
        ):
            faults.append(_missing(node, key, trail))  # noqa: PERF401  nearly always none


def _missing(node: Node, key: str, trail: Trail) -> Fault:
    return Fault(
        SCHEMA,
        "SCH003",
        (*path_of(trail), key),
        f"`{key}` is missing",
        _choices(node, key) or f"add `{key}`",
    )


def _null_is_a_value(node: Node, key: str, value: dict[str, Any]) -> bool:
    child = node.prop(key)
    return key in value and (child is None or child.nullable)


def _choices(node: Node, key: str) -> str:
    child = node.prop(key)
    values = child.raw.get("enum") if child is not None else None
    return f"one of {listed(values)}" if values else ""


def _list(
    node: Node, value: list[Any], trail: Trail, faults: list[Fault], sound: Sound
) -> None:
    child = node.items
    if child is not None:
        plain = child.plain
        for index, item in enumerate(value):
            if item.__class__ not in plain:
                _walk(child, item, (trail, index), faults, sound)
    if node.unique and len(value) > 1:
        _duplicates(node, child, value, trail, faults)


def _duplicates(
    node: Node, child: Node | None, value: list[Any], trail: Trail, faults: list[Fault]
) -> None:
    """Two items of a set that are equal, or two of a map with the same keys (an absent key counts with its default)."""
    seen: dict[Any, int] = {}
    for index, item in enumerate(value):
        if node.unique == "map" and item.__class__ is not dict:
            continue  # told as a wrong type
        first = seen.setdefault(_identity(node, child, item), index)
        if first != index:
            shown = _shown(node, item)
            faults.append(
                Fault(
                    LIST,
                    "SCH007",
                    path_of((trail, index)),
                    f"{shown} is already item {first} of this list",
                    help="remove one of the two, or give it another key",
                )
            )


def _identity(node: Node, child: Node | None, item: Any) -> Any:
    if node.unique == "set":
        return item.__class__, _hashable(item)
    out = []
    for name in node.list_keys:
        value = item.get(name)
        if (
            value is None
            and child is not None
            and (prop := child.prop(name)) is not None
        ):
            value = prop.default
        out.append(_hashable(value))
    return tuple(out)


def _hashable(value: Any) -> Any:
    return value if value.__hash__ is not None else repr(value)


def _shown(node: Node, item: Any) -> str:
    if node.unique == "set":
        return f"`{item}`"
    return (
        ", ".join(
            f"`{name}: {item[name]}`"
            for name in node.list_keys
            if item.get(name) is not None
        )
        or "an item"
    )


def _branches(
    node: Node, value: Any, trail: Trail, faults: list[Fault], sound: Sound
) -> None:
    for keyword, branches in node.branches:
        tried: list[list[Fault]] = []
        for branch in branches:
            tried.append([])
            _walk(branch, value, trail, tried[-1], sound)
        held = sum(not found for found in tried)
        if keyword == "allOf":
            faults += [fault for found in tried for fault in found]
        elif (
            (keyword == "not" and held)
            or (keyword == "anyOf" and not held)
            or (keyword == "oneOf" and held != 1)
        ):
            words = {
                "not": "is a form that is excluded",
                "anyOf": "fits none of the forms allowed",
            }
            message = words.get(
                keyword, f"fits {held or 'none'} of the forms of which one is allowed"
            )
            faults.append(
                Fault(
                    SCHEMA,
                    "SCH013",
                    path_of(trail),
                    f"this value {message}",
                    help="`trainyard explain SCH013` tells what the words mean; "
                    "compare with the API reference of the kind",
                )
            )


def _unknown(node: Node, key: str, trail: Trail) -> Fault:
    where = trail[1] if trail is not None else ""
    place = f" in `{where}`" if isinstance(where, str) and where else ""
    later = key in node.raw.get("later", ())
    help = (
        LATER
        if later
        else nearest(key, node.names, "remove it: the API knows no such field here")
    )
    return Fault(
        UNKNOWN,
        "SCH001",
        path_of((trail, key)),
        f"unknown field `{key}`{place}",
        help,
        key=True,
        meant="" if later else like(key, node.names),
    )


LATER = "remove it, or take a later release"
"""The help for a field that the release at hand does not have yet; who knows the release names it."""


def _wrong_type(node: Node, value: Any, trail: Trail) -> Fault:
    wanted = " or ".join(
        sorted(
            _NAMES[cls]
            for cls in node.classes
            if not (cls is int and float in node.classes)
        )
    )
    got = (
        "null"
        if value is None
        else _NAMES.get(value.__class__, f"a {value.__class__.__name__}")
    )
    help = f"write {wanted}"
    if str in node.classes and isinstance(value, bool | int | float):
        help = f'write it in quotes: `"{str(value).lower() if isinstance(value, bool) else value}"`'
    return Fault(
        SCHEMA,
        "SCH002",
        path_of(trail),
        f"{got} where {wanted} is expected",
        help,
        instead=_converted(node.classes, value),
    )


_NUMBER = re.compile(r"-?[0-9]+\Z")
_FLAGS = {
    "true": True,
    "yes": True,
    "on": True,
    "false": False,
    "no": False,
    "off": False,
}


def _converted(classes: frozenset[type], value: Any) -> tuple[Any, ...]:
    """The value of the type that is wanted, where one of another type stands for it."""
    if list in classes and value.__class__ in (dict, str):
        return ([value],)  # one item for the list
    if (
        str in classes
        and isinstance(value, bool | int | float)
        and not (int in classes and isinstance(value, float))
    ):
        return (str(value).lower() if isinstance(value, bool) else str(value),)
    if int in classes and isinstance(value, str) and _NUMBER.match(value):
        return (int(value),)
    if bool in classes and isinstance(value, str) and value.lower() in _FLAGS:
        return (_FLAGS[value.lower()],)
    return ()
