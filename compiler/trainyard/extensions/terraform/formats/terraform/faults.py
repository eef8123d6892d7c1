"""What is wrong with a module: arguments that the provider does not have or lacks, their types, and what they refer to.

Source: Terraform language, JSON configuration syntax (v1.11): sections, meta-arguments, and that a text stands for any
value where it holds an expression; the schema of hashicorp/aws (``structure``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.extensions.terraform.formats.terraform.structure import Shape, structure, types
from trainyard.extensions.terraform.formats.terraform.values import is_filled_in
from trainyard.language.diagnostics.words import kind_of
from trainyard.output.artifact import Body
from trainyard.verify.fault import REFERENCE, SCHEMA, UNKNOWN, Fault, Path, nearest

_SECTIONS = (
    "//",
    "action",
    "check",
    "data",
    "ephemeral",
    "import",
    "locals",
    "module",
    "moved",
    "output",
    "provider",
    "removed",
    "resource",
    "terraform",
    "variable",
)
_META = (
    "//",
    "connection",
    "count",
    "depends_on",
    "for_each",
    "lifecycle",
    "provider",
    "provisioner",
    "timeouts",
)
_LIFECYCLE = (
    "create_before_destroy",
    "ignore_changes",
    "postcondition",
    "precondition",
    "prevent_destroy",
    "replace_triggered_by",
)
_REFERENCE = (
    r"(?<![\w.\"-])((?:data\.)?aws_\w+)\.([A-Za-z_][\w-]*)(?:\[[^\]]*\])?(?:\.([a-z_]\w*))?"
)
_EXPRESSION = r"(?<!\$)\$\{((?:[^{}]|\{[^{}]*\})*)\}"
_NUMBER = r"-?\d+(\.\d+)?\Z"


def faults(body: Body, *, closed: bool = False) -> list[Fault]:
    """All faults of a module. ``closed``: it is our own and whole, so that a type without a structure is a fault, and
    so is a reference to what is not in it."""
    reported = [
        Fault(UNKNOWN, "SCH001", (name,), f"a module has no section `{name}`", key=True)
        for name in body
        if name not in _SECTIONS and not name.startswith("trainyard.dev/")
    ]
    for place, kind, resource in resources(body):
        reported += _resource(place, kind, resource, closed=closed)
    if closed:
        reported += _unresolved(body)
    return reported


def resources(body: Body) -> Iterator[tuple[Path, str, Any]]:
    """Each resource and data source: its place, its type (``data.`` before one of a data source), and itself. Of
    several under one name each."""
    for section, prefix in (("resource", ""), ("data", "data.")):
        kinds = body.get(section)
        if not isinstance(kinds, dict):
            continue
        for kind, labels in kinds.items():
            if not isinstance(labels, dict):
                continue
            for label, resource in labels.items():
                place = (section, kind, label)
                if isinstance(resource, list) and len(resource) == 1:
                    full_kind = prefix + kind
                    yield (*place, 0), full_kind, resource[0]
                else:
                    yield place, prefix + kind, resource


def _resource(place: Path, kind: str, resource: Any, *, closed: bool) -> Iterator[Fault]:
    known = structure(kind)
    if not isinstance(resource, dict):
        yield _wrong(place, resource, "a mapping")
        return
    if known is None:
        if closed:
            message = f"the structure of `{kind}` is not known"
            help = nearest(kind, types())
            yield Fault(SCHEMA, "SCH005", place, message, help, key=True)
        return
    plain = dict(resource)
    for key in _META:
        plain.pop(key, None)
    yield from _arguments(place, plain, known.arguments, kind)
    lifecycle = resource.get("lifecycle")
    if isinstance(lifecycle, dict):
        for key in lifecycle:
            if key not in _LIFECYCLE:
                yield _unknown((*place, "lifecycle", key), key, _LIFECYCLE, "`lifecycle`")


def _arguments(
    place: Path, given: Body, arguments: Mapping[str, Shape], of: str
) -> Iterator[Fault]:
    dynamic = given.get("dynamic")
    if isinstance(dynamic, dict):
        filled = set(dynamic)
    else:
        filled = set()
    for name, value in given.items():
        if name in ("dynamic", "//"):
            continue
        if name not in arguments:
            yield _unknown((*place, name), name, tuple(arguments), f"`{of}`")
        elif value is not None:
            yield from _value((*place, name), value, arguments[name], name)
    for name, shape in arguments.items():
        given_here = given.get(name) is not None
        absent = not given_here and name not in filled
        if shape.get("required") and absent:
            message = f"`{name}` of `{of}` is missing"
            yield Fault(SCHEMA, "SCH003", (*place, name), message, f"add `{name}`")


def _value(place: Path, value: Any, shape: Shape, name: str) -> Iterator[Fault]:
    form = shape["is"]
    if form == "any" or is_filled_in(value):
        return
    if form in ("block", "blocks"):
        yield from _blocks(place, value, shape, name)
    elif form in ("list", "map"):
        yield from _collection(place, value, shape, name)
    elif not _is_scalar(value, form):
        yield _wrong(place, value, _CALLED[form])


def _blocks(place: Path, value: Any, shape: Shape, name: str) -> Iterator[Fault]:
    if isinstance(value, list):
        several = value
    else:
        several = [value]
    if shape["is"] == "block" and len(several) > 1:
        yield _wrong(place, value, "one block")
        return
    for index, item in enumerate(several):
        below = place
        if isinstance(value, list):
            below = (*place, index)
        if isinstance(item, dict):
            yield from _arguments(below, item, shape["of"], name)
        elif not is_filled_in(item):
            yield _wrong(below, item, "a block")


def _collection(place: Path, value: Any, shape: Shape, name: str) -> Iterator[Fault]:
    wanted: type[dict[Any, Any]] | type[list[Any]] = list
    called = "a list"
    if shape["is"] == "map":
        wanted = dict
        called = "a mapping"
    if not isinstance(value, wanted):
        yield _wrong(place, value, called)
        return
    entries: Iterable[tuple[Any, Any]] = enumerate(value)
    if isinstance(value, dict):
        entries = value.items()
    for key, item in entries:
        if item is not None:
            yield from _value((*place, key), item, shape["of"], name)


_CALLED = {"string": "a text", "number": "a number", "bool": "`true` or `false`"}


def _is_scalar(value: Any, form: str) -> bool:
    """Whether Terraform takes a value for a type: it turns texts, numbers and booleans into each other."""
    if isinstance(value, (dict, list)):
        return False
    if form == "number":
        if isinstance(value, str):
            return bool(re.match(_NUMBER, value))
        if isinstance(value, bool):
            return False
        return isinstance(value, (int, float))
    if form == "bool":
        return isinstance(value, bool) or value in ("true", "false")
    return True


def _wrong(place: Path, value: Any, wanted: str) -> Fault:
    key = place[-1]
    message = f"`{key}` is {_shown(value)}, not {wanted}"
    return Fault(SCHEMA, "SCH002", place, message, f"write {wanted}")


def _shown(value: Any) -> str:
    return kind_of(value) if isinstance(value, (dict, list)) else f"`{json.dumps(value)}`"


def _unknown(place: Path, name: str, known: tuple[str, ...], of: str) -> Fault:
    message = f"{of} has no argument `{name}`"
    return Fault(UNKNOWN, "SCH001", place, message, nearest(name, known), key=True)


def expressions(value: Any, place: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every expression in the texts of a value, with its place; ``depends_on`` has them without `${}`."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "depends_on" and isinstance(item, list):
                for index, address in enumerate(item):
                    yield ((*place, key, index), str(address))
            else:
                yield from expressions(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from expressions(item, (*place, index))
    elif isinstance(value, str):
        for match in re.finditer(_EXPRESSION, value):
            yield place, match[1]


def _unresolved(body: Body) -> Iterator[Fault]:
    declared = {}
    for place, kind, _ in resources(body):
        address = f"{kind}.{place[2]}"
        declared[address] = kind
    for place, expression in expressions(body):
        for kind, label, attribute in re.findall(_REFERENCE, expression):
            address = f"{kind}.{label}"
            if address not in declared:
                message = f"`{address}` is not in the module"
                help = nearest(address, declared)
                yield Fault(REFERENCE, "REF001", place, message, help)
                continue
            known = structure(kind)
            if attribute and known is not None and attribute not in known.attributes:
                message = f"`{kind}` has no attribute `{attribute}`"
                help = nearest(attribute, known.attributes)
                yield Fault(REFERENCE, "REF001", place, message, help)
