"""The structural walk: types, unknown fields, required fields, bounds and list keys in one pass, without touching the
body.

As the API server does: a null where the schema is not nullable counts as absent (it is pruned), a default satisfies
``required``. Source: k8s.io/apiextensions-apiserver v0.36 pkg/apiserver/schema/{defaulting,pruning,listtype},
pkg/apiserver/validation.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Key
from trainyard.verify.defaults import defaulted
from trainyard.verify.fault import LIST, NAME, SCHEMA, UNKNOWN, Fault, Path, like, nearest
from trainyard.verify.node import Breach, Node
from trainyard.verify.syntax import Syntax

Trail = tuple[Any, Key] | None
"""The trail of the parent, and a key: cheap to extend, and made a path only for a fault."""
Sound = set[tuple[int, int]]
"""Ids of schema nodes, and of values without fault by them. One object in many places is walked once; the maker
of the set keeps the values alive and unchanged as long as it is used."""

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
    if sound is None:
        known = set()
    else:
        known = sound
    _walk(root, body, None, faults, known)
    return faults


def path_of(trail: Trail) -> Path:
    keys: list[Key] = []
    while trail is not None:
        trail, key = trail
        keys.append(key)
    return tuple(reversed(keys))


def _walk(node: Node, value: Any, trail: Trail, faults: list[Fault], sound: Sound) -> None:
    cls = value.__class__
    before = len(faults)
    classes = node.classes
    is_right = not classes or cls in classes
    if not is_right and not _passes(node, value):
        faults.append(_wrong_type(node, value, trail))
        return
    if node.tests:
        # Keys are counted as the API server does: after nulls went and defaults came.
        if cls is dict:
            tested = defaulted(node, value)
        else:
            tested = value
        _test(node, tested, trail, faults)
    if cls is dict:
        _object(node, value, trail, faults, sound)
    elif cls is list:
        _list(node, value, trail, faults, sound)
    if node.branches:
        _branches(node, value, trail, faults, sound)
    if len(faults) == before:
        sound.add((id(node), id(value)))


def _test(node: Node, value: Any, trail: Trail, faults: list[Fault]) -> None:
    for test in node.tests:
        if (breach := test(value)) is not None:
            faults.append(_breach(node, value, breach, trail))  # noqa: PERF401  nearly always none


def _breach(node: Node, value: Any, breach: Breach, trail: Trail) -> Fault:
    code, message, help = breach
    if code.startswith("NAM"):
        layer = NAME
    else:
        layer = SCHEMA
    near = ""
    if code == "SCH004":
        choices = map(str, node.raw["enum"])
        near = like(str(value), choices)
    instead = (near,) if near else ()
    return Fault(layer, code, path_of(trail), message, help, instead=instead)


def _passes(node: Node, value: Any) -> bool:
    """Values of another class that are right all the same: a null that is one, and 1.0, an integer in JSON Schema."""
    if value is None:
        return node.nullable
    is_number = value.__class__ is float and int in node.classes
    return is_number and value.is_integer()


def _object(
    node: Node, value: dict[str, Any], trail: Trail, faults: list[Fault], sound: Sound
) -> None:
    props = node.props
    key_syntax = node.key_syntax
    for key, item in value.items():
        child = props.get(key)
        if child is None:
            child = node.child(key)
        if key_syntax is not None and not key_syntax.accepts(key):
            faults.append(_wrong_key(key_syntax, key, trail))
        if child is None:
            is_closed = node.strict and not node.open
            if is_closed and item is not None:
                faults.append(_unknown(node, key, trail))
            continue
        if item.__class__ in child.plain or (id(child), id(item)) in sound:
            continue
        if item is not None or child.nullable:
            _walk(child, item, (trail, key), faults, sound)
    for key in node.required:
        if value.get(key) is not None:
            continue
        if key in node.defaulted:
            continue
        if not _has_null(node, key, value):
            faults.append(_missing(node, key, trail))


def _wrong_key(syntax: Syntax, key: str, trail: Trail) -> Fault:
    path = path_of((trail, key))
    return Fault(NAME, syntax.code, path, syntax.breach(key), syntax.advice(key), key=True)


def _missing(node: Node, key: str, trail: Trail) -> Fault:
    path = (*path_of(trail), key)
    help = _choices(node, key) or f"add `{key}`"
    return Fault(SCHEMA, "SCH003", path, f"`{key}` is missing", help)


def _has_null(node: Node, key: str, value: dict[str, Any]) -> bool:
    """Whether a key has a null that counts as its value."""
    if key not in value:
        return False
    child = node.prop(key)
    return child is None or child.nullable


def _choices(node: Node, key: str) -> str:
    child = node.prop(key)
    if child is None or "enum" not in child.raw:
        return ""
    return f"one of {listed(child.raw['enum'])}"


def _list(node: Node, value: list[Any], trail: Trail, faults: list[Fault], sound: Sound) -> None:
    child = node.items
    if child is not None:
        plain = child.plain
        for index, item in enumerate(value):
            if item.__class__ not in plain and (id(child), id(item)) not in sound:
                _walk(child, item, (trail, index), faults, sound)
    if node.unique and len(value) > 1:
        _duplicates(node, child, value, trail, faults)


def _duplicates(
    node: Node, child: Node | None, value: list[Any], trail: Trail, faults: list[Fault]
) -> None:
    """Two items of a set that are equal, or two of a map with the same keys (an absent key counts with its default)."""
    if node.unique == "map" and _differ(value, *node.list_keys[:1]):
        return
    seen: dict[Any, int] = {}
    for index, item in enumerate(value):
        if node.unique == "map" and item.__class__ is not dict:
            continue  # reported as a wrong type
        identity = _identity(node, child, item)
        first = seen.setdefault(identity, index)
        if first != index:
            path = path_of((trail, index))
            message = f"{_shown(node, item)} is already item {first} of this list"
            help = "remove one of the two, or give it another key"
            faults.append(Fault(LIST, "SCH007", path, message, help))


def _differ(items: list[Any], key: str = "") -> bool:
    """Whether all items are mappings with different texts under a key, as in nearly every list."""
    texts = set()
    for item in items:
        text = item.get(key) if item.__class__ is dict else None
        if text.__class__ is not str:
            return False
        texts.add(text)
    return len(texts) == len(items)


def _identity(node: Node, child: Node | None, item: Any) -> Any:
    if node.unique == "set":
        return item.__class__, _hashable(item)
    key_values = []
    for name in node.list_keys:
        value = item.get(name)
        if value is None and child is not None:
            prop = child.prop(name)
            if prop is None:
                value = None
            else:
                value = prop.default
        key_values.append(_hashable(value))
    return tuple(key_values)


def _hashable(value: Any) -> Any:
    if value.__hash__ is not None:
        return value
    return repr(value)


def _shown(node: Node, item: Any) -> str:
    if node.unique == "set":
        return f"`{item}`"
    keys = [f"`{name}: {item[name]}`" for name in node.list_keys if item.get(name) is not None]
    return ", ".join(keys) or "an item"


def _branches(node: Node, value: Any, trail: Trail, faults: list[Fault], sound: Sound) -> None:
    for keyword, branches in node.branches:
        faults_by_branch: list[list[Fault]] = []
        for branch in branches:
            branch_faults: list[Fault] = []
            _walk(branch, value, trail, branch_faults, sound)
            faults_by_branch.append(branch_faults)
        if keyword == "allOf":
            faults.extend(chain.from_iterable(faults_by_branch))
            continue
        message = _misfit(keyword, faults_by_branch.count([]))
        if message:
            path = path_of(trail)
            faults.append(Fault(SCHEMA, "SCH013", path, message, _COMPARE))


_COMPARE = (
    "`trainyard explain SCH013` says what the words mean; "
    "compare with the API reference of the kind"
)


def _misfit(keyword: str, held: int) -> str:
    """What is wrong with a value for which ``held`` branches of a keyword hold, or nothing."""
    match keyword:
        case "not" if held:
            return "this value is a form that is excluded"
        case "anyOf" if not held:
            return "this value fits none of the forms allowed"
        case "oneOf" if held != 1:
            count = held or "none"
            return f"this value fits {count} of the forms, and exactly one is allowed"
    return ""


def _unknown(node: Node, key: str, trail: Trail) -> Fault:
    if trail is not None:
        parent = trail[1]
    else:
        parent = ""
    message = f"unknown field `{key}`"
    if isinstance(parent, str) and parent:
        message += f" in `{parent}`"
    if key in node.raw.get("later", ()):
        help, near = LATER, ""
    else:
        help = nearest(key, node.names, "remove it: the API knows no such field here")
        near = like(key, node.names)
    path = path_of((trail, key))
    return Fault(UNKNOWN, "SCH001", path, message, help, key=True, meant=near)


LATER = "remove it, or take a later release"
"""The help for a field that the release at hand does not have yet; ``body`` adds the name of the release."""


def _wrong_type(node: Node, value: Any, trail: Trail) -> Fault:
    wanted = _wanted(node.classes)
    if value is None:
        got = "null"
    else:
        got = _name_of(value.__class__)
    help = f"write {wanted}"
    is_scalar = isinstance(value, bool | int | float)
    if is_scalar and str in node.classes:
        help = f'write it in quotes: `"{_as_text(value)}"`'
    message = f"{got} where {wanted} is expected"
    instead = _as_items(node, value) or _converted(node.classes, value)
    return Fault(SCHEMA, "SCH002", path_of(trail), message, help, instead=instead)


def _as_items(node: Node, value: Any) -> tuple[Any, ...]:
    """The list that a mapping of names to values stands for, as of variables, or a line of words."""
    items = node.items
    if list not in node.classes or items is None:
        return ()
    if isinstance(value, str) and str in items.classes and len(value.split()) > 1:
        return (value.split(),)
    is_named = isinstance(value, dict) and {"name", "value"} <= set(items.names)
    if (
        not is_named
        or "name" in value
        or any(isinstance(each, dict | list) for each in value.values())
    ):
        return ()
    texts = {str(name): _text_of(each) for name, each in value.items()}
    return ([{"name": name, "value": text} for name, text in texts.items()],)


def _text_of(value: Any) -> str:
    return _as_text(value) if isinstance(value, bool | int | float) else str(value or "")


def _wanted(classes: frozenset[type]) -> str:
    if float in classes:
        classes = classes - {int}  # an integer is a number
    names = sorted(_NAMES[cls] for cls in classes)
    return " or ".join(names)


def _name_of(cls: type) -> str:
    return _NAMES.get(cls, f"a {cls.__name__}")


def _as_text(value: float) -> str:
    """The YAML text of a boolean or a number."""
    text = str(value)
    if isinstance(value, bool):
        return text.lower()
    return text


_NUMBER = r"-?[0-9]+\Z"
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _converted(classes: frozenset[type], value: Any) -> tuple[Any, ...]:
    """The value converted to the expected type, where that is unambiguous."""
    is_item = value.__class__ in (dict, str)
    if is_item and list in classes:
        return ([value],)  # one item for the list
    is_scalar = isinstance(value, bool | int | float)
    if is_scalar and str in classes:
        is_fraction = int in classes and isinstance(value, float)
        if not is_fraction:
            return (_as_text(value),)
    if not isinstance(value, str):
        return ()
    if int in classes and re.match(_NUMBER, value):
        return (int(value),)
    if bool in classes and value.lower() in _FLAGS:
        return (_FLAGS[value.lower()],)
    return ()
