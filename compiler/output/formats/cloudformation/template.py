"""What is wrong with a template: its sections, its names, the properties of its resources, and what they refer to.

Source: CloudFormation user guide, template sections, resource attributes and quotas (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from compiler.output.formats.cloudformation.functions import (
    PSEUDO,
    Use,
    calls,
    is_call,
    uses,
)
from compiler.output.formats.cloudformation.grammar import DOCUMENTS, policy_faults
from compiler.output.formats.cloudformation.structure import structure, types
from compiler.verify.fault import (
    NAME,
    REFERENCE,
    SCHEMA,
    UNKNOWN,
    Fault,
    Path,
    nearest,
)
from compiler.verify.walk import walk

BY_FILE, BY_S3 = 51_200, 1_000_000
"""Bytes of a template that is sent with the request, and of one that lies in S3 (quotas: "Template body size")."""
_MOST = {"Parameters": 200, "Resources": 500, "Outputs": 200, "Mappings": 200}
_SECTIONS = (
    "AWSTemplateFormatVersion",
    "Conditions",
    "Description",
    "Mappings",
    "Metadata",
    "Outputs",
    "Parameters",
    "Resources",
    "Rules",
    "Transform",
)
_OTHER_SECTIONS = ("Hooks", "Globals")  # of blue/green deployments, and of SAM
_PACKAGED = (
    "Modules",
    "Packages",
    "Rain",
)  # of `aws cloudformation package`, and of Rain
_TRANSFORMS = (
    "AWS::CodeDeployBlueGreen",
    "AWS::LanguageExtensions",
    "AWS::SecretsManager-2020-07-23",
    "AWS::SecretsManager-2024-09-16",
    "AWS::Serverless-2016-10-31",
    "AWS::ServiceCatalog",
)
"""AWS' own transforms, which add resources and leave those alone that are there."""
_ATTRIBUTES = (
    "Condition",
    "CreationPolicy",
    "DeletionPolicy",
    "DependsOn",
    "Metadata",
    "Properties",
    "Type",
    "UpdatePolicy",
    "UpdateReplacePolicy",
)
_OTHER_ATTRIBUTES = ("Connectors", "Version")  # of SAM, and of custom resources
_KEEPING = ("Delete", "Retain", "RetainExceptOnCreate", "Snapshot")
_LOGICAL = re.compile(r"[A-Za-z0-9]+\Z")
_LONGEST = 255
_FOR_EACH = "Fn::ForEach"
Body = dict[str, Any]


def is_template(body: Any) -> bool:
    """Whether a document is a template: it says so, or has resources with types of AWS or of one's own."""
    if not isinstance(body, dict) or "apiVersion" in body:
        return False
    if "AWSTemplateFormatVersion" in body:
        return True
    resources = body.get("Resources")
    return isinstance(resources, dict) and any(
        isinstance(each, dict)
        and isinstance(each.get("Type"), str)
        and "::" in each["Type"]
        for each in resources.values()
    )


def types_in(body: Body) -> Iterator[str]:
    """The type of every resource that has one."""
    resources = body.get("Resources")
    for each in resources.values() if isinstance(resources, dict) else ():
        kind = each.get("Type") if isinstance(each, dict) else None
        if isinstance(kind, str) and kind:
            yield kind


def faults(
    body: Body, size: int = 0, limit: int = BY_FILE, *, closed: bool = False
) -> list[Fault]:
    """All faults of a template of so many bytes, in the order of its sections. ``closed``: it is our own, so that a
    type without a structure is a fault."""
    if _rewritten(body):
        return list(_too_large(body, size, limit))
    found = [*_sections(body), *_too_large(body, size, limit)]
    resources = body.get("Resources")
    if isinstance(resources, dict):
        for name, resource in resources.items():
            found += _resource(name, resource)
            if closed:
                found += _unjudged(name, resource)
    found += _others(body)
    found += _references(body)
    return found


def _rewritten(body: Body) -> bool:
    """Whether a program makes another template of it before CloudFormation reads it: a macro of one's own, or modules
    that are packaged."""
    transforms = body.get("Transform")
    several = transforms if isinstance(transforms, list) else [transforms]
    own = any(each not in _TRANSFORMS for each in several if each is not None)
    return own or any(name in body for name in _PACKAGED)


def _sections(body: Body) -> Iterator[Fault]:
    for name in body:
        if name not in _SECTIONS and name not in _OTHER_SECTIONS:
            yield _unknown((name,), name, _SECTIONS, "a template")
    if "Resources" not in body:
        yield Fault(
            SCHEMA, "SCH003", ("Resources",), "`Resources` is missing", "add a resource"
        )
    for name in ("Conditions", *_MOST):
        if name in body and not isinstance(body[name], dict):
            message = f"`{name}` is not a mapping"
            yield Fault(SCHEMA, "SCH002", (name,), message, "write a mapping")


def _unknown(path: Path, name: str, known: tuple[str, ...], of: str) -> Fault:
    return Fault(
        UNKNOWN,
        "SCH001",
        path,
        f"unknown field `{name}` in {of}",
        nearest(name, known, "remove it"),
        key=True,
    )


def _too_large(body: Body, size: int, limit: int) -> Iterator[Fault]:
    if size > limit:
        yield Fault(
            SCHEMA,
            "SCH005",
            (),
            f"a template of {size:,} bytes where at most {limit:,} are taken",
            "split it into several stacks",
        )
    for name, most in _MOST.items():
        section = body.get(name)
        if isinstance(section, dict) and len(section) > most:
            message = f"{len(section)} {name.lower()} where at most {most} are taken"
            yield Fault(
                SCHEMA, "SCH005", (name,), message, "split it into several stacks"
            )


def _resource(name: str, resource: Any) -> Iterator[Fault]:
    path: Path = ("Resources", name)
    if name.startswith(_FOR_EACH):
        return
    yield from _logical_name(path, name)
    if not isinstance(resource, dict):
        yield Fault(
            SCHEMA,
            "SCH002",
            path,
            f"resource `{name}` is not a mapping",
            "give it a `Type`",
        )
        return
    for key in resource:
        if (
            key not in _ATTRIBUTES
            and key not in _OTHER_ATTRIBUTES
            and not is_call(resource)
        ):
            yield _unknown((*path, key), key, _ATTRIBUTES, f"resource `{name}`")
    for key in ("DeletionPolicy", "UpdateReplacePolicy"):
        value = resource.get(key)
        if isinstance(value, str) and value not in _KEEPING:
            yield Fault(
                SCHEMA,
                "SCH004",
                (*path, key),
                f"`{value}` is no `{key}`",
                nearest(value, _KEEPING),
            )
    kind = resource.get("Type")
    if not isinstance(kind, str) or not kind:
        yield Fault(
            SCHEMA,
            "SCH003",
            (*path, "Type"),
            f"resource `{name}` has no `Type`",
            "write it like `Type: AWS::IAM::Role`",
        )
        return
    yield from _properties(path, kind, resource.get("Properties"))


def _unjudged(name: str, resource: Any) -> Iterator[Fault]:
    """A resource of our own whose type has no structure here: nothing would judge its properties."""
    kind = resource.get("Type") if isinstance(resource, dict) else None
    if isinstance(kind, str) and structure(kind) is None:
        yield Fault(
            SCHEMA,
            "SCH010",
            ("Resources", name, "Type"),
            f"no structure of `{kind}` is known",
            nearest(kind, types(), "add it to `TYPES` of `derive.py`"),
        )


def _logical_name(path: Path, name: str) -> Iterator[Fault]:
    if not _LOGICAL.match(name) or len(name) > _LONGEST:
        yield Fault(
            NAME,
            "NAM001",
            path,
            f"`{name}` is no logical name",
            f"use at most {_LONGEST} letters and digits",
            key=True,
        )


def _properties(path: Path, kind: str, properties: Any) -> Iterator[Fault]:
    """Faults of a resource's properties, less those of values that CloudFormation fills in."""
    known = structure(kind)
    place = (*path, "Properties")
    if known is not None and not is_call(properties):
        found = walk(known.properties, {} if properties is None else properties)
        yield from _below(place, _certain(found, properties))
    for route, document_kind in DOCUMENTS.get(kind, ()):
        for where, document in _at(properties, route):
            if not is_call(document):
                found = policy_faults(document, document_kind)
                yield from _below((*place, *where), _certain(found, document))


def _certain(found: list[Fault], value: Any) -> list[Fault]:
    """The faults of a value that no function fills in, each once: a misspelt name is not missing as well."""
    if not found:
        return []
    filled = list(calls(value))
    meant = {(*fault.path[:-1], fault.meant) for fault in found if fault.meant}
    return [
        fault
        for fault in found
        if not _excused(fault, filled)
        and not (fault.code == "SCH003" and fault.path in meant)
    ]


def _excused(fault: Fault, filled: list[Path]) -> bool:
    """Whether a fault is about a value that a function gives, or a scalar that CloudFormation takes for the right one:
    numbers and booleans may be texts, and the other way round. A key is wrong with whatever value."""
    if fault.code == "SCH002" and any(not isinstance(v, list) for v in fault.instead):
        return True
    if fault.code in ("SCH013", "SCH007"):  # about the whole of a value
        inside = any(path[: len(fault.path)] == fault.path for path in filled)
        return inside or _within(fault.path, filled)
    return _within(fault.path[:-1] if fault.key else fault.path, filled)


def _within(path: Path, filled: list[Path]) -> bool:
    return any(path[: len(each)] == each for each in filled)


def _below(place: Path, found: list[Fault]) -> Iterator[Fault]:
    for fault in found:
        yield replace(fault, path=(*place, *fault.path))


def _at(
    value: Any, route: tuple[str, ...], path: Path = ()
) -> Iterator[tuple[Path, Any]]:
    """The values at a route, in which `*` is every item of a list."""
    if not route:
        if value is not None:
            yield path, value
    elif route[0] == "*":
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _at(item, route[1:], (*path, index))
    elif isinstance(value, dict) and route[0] in value:
        yield from _at(value[route[0]], route[1:], (*path, route[0]))


def _others(body: Body) -> Iterator[Fault]:
    """Parameters without a type, outputs without a value, and names of both."""
    for section, needed in (("Parameters", "Type"), ("Outputs", "Value")):
        entries = body.get(section)
        if not isinstance(entries, dict):
            continue
        for name, entry in entries.items():
            if name.startswith(_FOR_EACH):
                continue
            path = (section, name)
            yield from _logical_name(path, name)
            if not isinstance(entry, dict) or needed not in entry:
                yield Fault(
                    SCHEMA,
                    "SCH003",
                    (*path, needed),
                    f"`{name}` of `{section}` has no `{needed}`",
                    f"add `{needed}`",
                )


def _references(body: Body) -> Iterator[Fault]:
    """Names that nothing in the template has. A transform may make what is not there, so that nothing is certain."""
    resources = body.get("Resources")
    if "Transform" in body or not isinstance(resources, dict):
        return
    if any(name.startswith(_FOR_EACH) for name in resources):
        return
    for section in ("Resources", "Outputs", "Conditions"):
        for use in uses(body.get(section), (section,)):
            fault = _unresolved(use, body, resources)
            if fault is not None:
                yield fault
    for name, resource in resources.items():
        if isinstance(resource, dict):
            yield from _attributes(("Resources", name), resource, body, resources)
    yield from _circle(resources)


def _entries(body: Body, section: str) -> Body:
    """The entries of a section; none of one that is no mapping."""
    found = body.get(section)
    return found if isinstance(found, dict) else {}


def _attributes(
    path: Path, resource: Body, body: Body, resources: Body
) -> Iterator[Fault]:
    """What a resource waits for, and the condition that it is made on."""
    waits = resource.get("DependsOn")
    for index, other in enumerate(waits if isinstance(waits, list) else [waits]):
        if isinstance(other, str) and other not in resources:
            place = (
                (*path, "DependsOn", index)
                if isinstance(waits, list)
                else (*path, "DependsOn")
            )
            yield _absent(place, "resource", other, resources)
    condition = resource.get("Condition")
    conditions = _entries(body, "Conditions")
    if isinstance(condition, str) and condition not in conditions:
        yield _absent((*path, "Condition"), "condition", condition, conditions)


def _unresolved(use: Use, body: Body, resources: Body) -> Fault | None:
    parameters = _entries(body, "Parameters")
    if use.function == "Ref":
        if use.name in resources or use.name in parameters or use.name in PSEUDO:
            return None
        known = PSEUDO if "::" in use.name else (*resources, *parameters)
        return _absent(use.path, "resource or parameter", use.name, known)
    if use.function == "Fn::GetAtt":
        return _no_attribute(use, resources)
    if use.function == "Condition":
        conditions = _entries(body, "Conditions")
        if use.name in conditions:
            return None
        return _absent(use.path, "condition", use.name, conditions)
    mappings = _entries(body, "Mappings")
    if use.name in mappings:
        return None
    return _absent(use.path, "mapping", use.name, mappings)


def _no_attribute(use: Use, resources: Body) -> Fault | None:
    if use.name not in resources:
        return _absent(use.path, "resource", use.name, resources)
    resource = resources[use.name]
    known = structure(str(resource.get("Type"))) if isinstance(resource, dict) else None
    if known is None or not use.attribute or use.attribute in known.attributes:
        return None
    if "${" in use.attribute or use.attribute.partition(".")[0] in known.attributes:
        return None
    return Fault(
        REFERENCE,
        "REF001",
        use.path,
        f"`{use.name}` has no attribute `{use.attribute}`",
        nearest(use.attribute, known.attributes, "`Ref` gives its name or ARN"),
    )


def _absent(path: Path, what: str, name: str, known: Iterable[str]) -> Fault:
    return Fault(
        REFERENCE,
        "REF001",
        path,
        f"{what} `{name}` is not in this template",
        nearest(name, known, "name one that is"),
    )


def _circle(resources: Body) -> Iterator[Fault]:
    """Resources that wait for each other: CloudFormation refuses the template ("Circular dependency")."""
    waits = {
        name: list(dict.fromkeys(_waits_for(resource, resources)))
        for name, resource in resources.items()
    }
    free: set[str] = set()
    for start in waits:
        trail = _walked(start, waits, free)
        if trail:
            shown = " → ".join(f"`{name}`" for name in trail)
            yield Fault(
                REFERENCE,
                "REF003",
                ("Resources", trail[0]),
                f"resources wait for each other: {shown}",
                "give one of them a resource of its own, like a policy beside its role",
                key=True,
            )
            return


def _walked(start: str, waits: dict[str, list[str]], free: set[str]) -> list[str]:
    """The circle that is met from a resource; ``free`` learns which are in none."""
    stack: list[tuple[str, Iterator[str]]] = [(start, iter(waits[start]))]
    trail = [start]
    while stack and start not in free:
        name, rest = stack[-1]
        following = next((other for other in rest if other not in free), None)
        if following is None:
            free.add(name)
            stack.pop()
            trail.pop()
        elif following in trail:
            return [*trail[trail.index(following) :], following]
        else:
            stack.append((following, iter(waits[following])))
            trail.append(following)
    return []


def _waits_for(resource: Any, resources: Body) -> Iterator[str]:
    if not isinstance(resource, dict):
        return
    for use in uses(resource.get("Properties")):
        if use.function in ("Ref", "Fn::GetAtt") and use.name in resources:
            yield use.name
    waits = resource.get("DependsOn")
    for other in waits if isinstance(waits, list) else [waits]:
        if isinstance(other, str) and other in resources:
            yield other
