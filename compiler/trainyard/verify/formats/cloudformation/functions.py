"""Intrinsic functions: values that a template leaves to CloudFormation, and the names in them.

Source: CloudFormation template reference, intrinsic functions and pseudo parameters (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.output.body import walk_mappings
from trainyard.verify.fault import Path

NAMES = (
    "Fn::And",
    "Fn::Base64",
    "Fn::Cidr",
    "Fn::Equals",
    "Fn::FindInMap",
    "Fn::ForEach",
    "Fn::GetAZs",
    "Fn::GetAtt",
    "Fn::GetStackOutput",
    "Fn::If",
    "Fn::ImportValue",
    "Fn::Join",
    "Fn::Length",
    "Fn::Not",
    "Fn::Or",
    "Fn::Select",
    "Fn::Split",
    "Fn::Sub",
    "Fn::ToJsonString",
    "Fn::Transform",
)
FOR_EACH = "Fn::ForEach"
"""The beginning of a key that is expanded to several entries of a section."""
_IN_RULES = (
    "Fn::Contains",
    "Fn::EachMemberEquals",
    "Fn::EachMemberIn",
    "Fn::RefAll",
    "Fn::ValueOf",
    "Fn::ValueOfAll",
)
PSEUDO = frozenset(
    f"AWS::{name}"
    for name in (
        "AccountId",
        "NotificationARNs",
        "NoValue",
        "Partition",
        "Region",
        "StackId",
        "StackName",
        "URLSuffix",
    )
)
TAGS: dict[str, str] = {
    "!Ref": "Ref",
    "!Condition": "Condition",
    **{f"!{name.removeprefix('Fn::')}": name for name in (*NAMES, *_IN_RULES)},
}
"""The short forms of YAML, and the key of the long form."""
_KEYS = frozenset((*NAMES, "Ref", "Condition"))
_IN_TEXT = r"\$\{([^!{}$][^{}$]*)\}"


@dataclass(frozen=True, slots=True)
class Use:
    """A name that a function uses: of a resource or parameter (``Ref``), of a resource's attribute (``Fn::GetAtt``,
    with ``attribute``), of a condition (``Condition``), of a mapping (``Fn::FindInMap``)."""

    function: str
    name: str
    path: Path
    attribute: str = ""


def is_call(value: Any) -> bool:
    """Whether a value is an intrinsic function. ``Fn::Transform`` and ``Fn::ForEach`` may have sibling keys."""
    if not isinstance(value, dict):
        return False
    if len(value) == 1:
        key, inner = next(iter(value.items()))
        if key == "Condition" and not isinstance(inner, str):
            return False
        return key in _KEYS
    return "Fn::Transform" in value


def calls(value: Any, path: Path = ()) -> Iterator[Path]:
    """The place of every value that CloudFormation fills in, the outermost first and alone."""
    for place, part in walk_mappings(value, path, stop=is_call):
        if is_call(part):
            yield place


def is_filled_in(value: Any) -> bool:
    """Whether a function gives a value, or a part of it, and nobody knows its text."""
    if value is None or isinstance(value, str):
        return False
    parts = (part for _, part in walk_mappings(value, stop=is_call))
    return any(is_call(part) and text_of(part) is None for part in parts)


def text_of(value: Any) -> str | None:
    """A text, or that of ``Fn::Sub`` with its ``${…}``; ``None`` where it is unknown."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) == 1:
        inner = value.get("Fn::Sub")
        if isinstance(inner, list) and inner:
            inner = inner[0]
        if isinstance(inner, str):
            return inner
        return None
    return None


def name_of(value: Any) -> str | None:
    """What ``Ref`` or ``Fn::GetAtt`` names, or the text."""
    if isinstance(value, dict) and len(value) == 1:
        if isinstance(value.get("Ref"), str):
            return str(value["Ref"])
        got = _attribute(value.get("Fn::GetAtt"))
        if got is not None:
            return got[0]
    return text_of(value)


def uses(value: Any, path: Path = ()) -> Iterator[Use]:
    """Every name that the functions in a value use."""
    for place, part in walk_mappings(value, path):
        if not is_call(part):
            continue
        for key, inner in part.items():
            if key in _KEYS:
                yield from _used(key, inner, (*place, key))


def _used(function: str, value: Any, path: Path) -> Iterator[Use]:
    match function:
        case "Ref" | "Condition" if isinstance(value, str):
            yield Use(function, value, path)
        case "Fn::GetAtt":
            got = _attribute(value)
            if got is not None:
                yield Use(function, got[0], path, got[1])
        case "Fn::If" if isinstance(value, list) and value:
            if isinstance(value[0], str):
                yield Use("Condition", value[0], (*path, 0))
        case "Fn::FindInMap" if isinstance(value, list) and value:
            if isinstance(value[0], str):
                yield Use(function, value[0], (*path, 0))
        case "Fn::Sub":
            yield from _in_text(value, path)


def _in_text(value: Any, path: Path) -> Iterator[Use]:
    """The names in the text of ``Fn::Sub``, but those that it has values of its own for."""
    own: Any = {}
    if isinstance(value, list):
        own = {}
        if len(value) > 1:
            own = value[1]
        value = value[0] if value else ""
    if not isinstance(value, str):
        return
    for name in re.findall(_IN_TEXT, value):
        name = name.strip()
        if isinstance(own, dict) and name in own:
            continue
        resource, dot, attribute = name.partition(".")
        if dot:
            yield Use("Fn::GetAtt", resource, path, attribute)
        else:
            yield Use("Ref", name, path)


def _attribute(value: Any) -> tuple[str, str] | None:
    """The resource and the attribute of ``Fn::GetAtt``: a list, or in YAML a text with a dot."""
    if isinstance(value, str):
        resource, _, attribute = value.partition(".")
        return resource, attribute
    if not isinstance(value, list) or not value:
        return None
    if isinstance(value[0], str):
        rest = value[1:]
        known = all(isinstance(part, str) for part in rest)
        return value[0], ".".join(rest) if known else ""
    return None
