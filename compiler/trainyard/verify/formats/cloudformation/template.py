"""What is wrong with a template: its sections, its names, the properties of its resources.

Source: CloudFormation user guide, template sections, resource attributes and quotas (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from trainyard.output.artifact import Body
from trainyard.output.body import values_along
from trainyard.verify.fault import NAME, SCHEMA, UNKNOWN, Fault, Path, nearest
from trainyard.verify.formats.cloudformation.functions import FOR_EACH, calls, is_call
from trainyard.verify.formats.cloudformation.grammar import DOCUMENTS, policy_faults
from trainyard.verify.formats.cloudformation.references import unresolved
from trainyard.verify.formats.cloudformation.structure import structure, types
from trainyard.verify.walk import walk

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
# Of `aws cloudformation package`, and of Rain.
_PACKAGED = ("Modules", "Packages", "Rain")
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
_LOGICAL = r"[A-Za-z0-9]+\Z"
_LONGEST = 255


def is_template(body: Any) -> bool:
    """Whether a document is a template: it says so, or has resources with types of AWS or of one's own."""
    if not isinstance(body, dict) or "apiVersion" in body:
        return False
    if "AWSTemplateFormatVersion" in body:
        return True
    return any("::" in kind for kind in types_in(body))


def types_in(body: Body) -> Iterator[str]:
    """The type of every resource that has one."""
    resources = body.get("Resources")
    if not isinstance(resources, dict):
        return
    for resource in resources.values():
        kind = None
        if isinstance(resource, dict):
            kind = resource.get("Type")
        if isinstance(kind, str) and kind:
            yield kind


def faults(body: Body, size: int = 0, limit: int = BY_FILE, *, closed: bool = False) -> list[Fault]:
    """All faults of a template of so many bytes, in the order of its sections. ``closed``: it is our own, so that a
    type without a structure is a fault."""
    if _is_rewritten(body):
        return list(_too_large(body, size, limit))
    reported = list(_sections(body))
    reported += _too_large(body, size, limit)
    resources = body.get("Resources")
    if isinstance(resources, dict):
        for name, resource in resources.items():
            reported += _resource(name, resource)
            if closed:
                reported += _missing_structure(name, resource)
    reported += _declaration_faults(body)
    reported += unresolved(body)
    return reported


def _is_rewritten(body: Body) -> bool:
    """Whether a program rewrites it before CloudFormation reads it: a macro of one's own, or modules
    that are packaged."""
    transforms = body.get("Transform")
    if isinstance(transforms, list):
        several = transforms
    else:
        several = [transforms]
    known = (None, *_TRANSFORMS)
    if any(name not in known for name in several):
        return True
    return any(name in body for name in _PACKAGED)


def _sections(body: Body) -> Iterator[Fault]:
    for name in body:
        if name not in _SECTIONS and name not in _OTHER_SECTIONS:
            yield _unknown((name,), name, _SECTIONS, "a template")
    if "Resources" not in body:
        yield Fault(SCHEMA, "SCH003", ("Resources",), "`Resources` is missing", "add a resource")
    for name in ("Conditions", *_MOST):
        section = body.get(name, {})
        if not isinstance(section, dict):
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
        if isinstance(section, dict):
            count = len(section)
        else:
            count = 0
        if count > most:
            message = f"{count} {name.lower()} where at most {most} are taken"
            yield Fault(SCHEMA, "SCH005", (name,), message, "split it into several stacks")


def _resource(name: str, resource: Any) -> Iterator[Fault]:
    path: Path = ("Resources", name)
    if name.startswith(FOR_EACH):
        return
    yield from _logical_name(path, name)
    if not isinstance(resource, dict):
        yield Fault(
            SCHEMA, "SCH002", path, f"resource `{name}` is not a mapping", "give it a `Type`"
        )
        return
    known = _ATTRIBUTES + _OTHER_ATTRIBUTES
    unknown = [key for key in resource if key not in known]
    if not is_call(resource):
        for key in unknown:
            yield _unknown((*path, key), key, _ATTRIBUTES, f"resource `{name}`")
    for key in ("DeletionPolicy", "UpdateReplacePolicy"):
        value = resource.get(key)
        if isinstance(value, str) and value not in _KEEPING:
            yield Fault(
                SCHEMA, "SCH004", (*path, key), f"`{value}` is no `{key}`", nearest(value, _KEEPING)
            )
    kind = resource.get("Type")
    if kind is None and is_call(resource):
        return  # a transform may give it
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


def _missing_structure(name: str, resource: Any) -> Iterator[Fault]:
    """A resource of our own whose type has no structure here: nothing would judge its properties."""
    kind = None
    if isinstance(resource, dict):
        kind = resource.get("Type")
    if isinstance(kind, str) and structure(kind) is None:
        yield Fault(
            SCHEMA,
            "SCH010",
            ("Resources", name, "Type"),
            f"no structure of `{kind}` is known",
            nearest(kind, types(), "add it to `TYPES` of `derive.py`"),
        )


def _logical_name(path: Path, name: str) -> Iterator[Fault]:
    fits = len(name) <= _LONGEST
    if not fits or not re.match(_LOGICAL, name):
        yield Fault(
            NAME,
            "NAM001",
            path,
            f"`{name}` is no logical name",
            f"use at most {_LONGEST} letters and digits",
            key=True,
        )


def _properties(path: Path, kind: str, properties: Any) -> Iterator[Fault]:
    """Faults of a resource's properties, without those of values that CloudFormation fills in."""
    known = structure(kind)
    place = (*path, "Properties")
    if known is not None and not is_call(properties):
        wrong = walk(known.properties, {} if properties is None else properties)
        yield from _move_below(place, _certain_faults(wrong, properties))
    for route, document_kind in DOCUMENTS.get(kind, ()):
        for where, document in values_along(properties, route):
            if not is_call(document):
                wrong = policy_faults(document, document_kind)
                yield from _move_below((*place, *where), _certain_faults(wrong, document))


def _certain_faults(all_faults: list[Fault], value: Any) -> list[Fault]:
    """The faults of a value that no function fills in, each once: a misspelt name is not missing as well."""
    if not all_faults:
        return []
    filled = list(calls(value))
    misspelt = [fault for fault in all_faults if fault.meant]
    meant = {(*fault.path[:-1], fault.meant) for fault in misspelt}
    certain = []
    for fault in all_faults:
        is_meant = fault.code == "SCH003" and fault.path in meant
        if not is_meant and not _is_excused(fault, filled):
            certain.append(fault)
    return certain


def _is_excused(fault: Fault, filled: list[Path]) -> bool:
    """Whether a fault is about a value that a function gives, or a scalar that CloudFormation takes for the right one:
    numbers and booleans may be texts, and the other way round. A key is wrong with any value."""
    if fault.code == "SCH002":
        instead = fault.instead
        scalars = [wanted for wanted in instead if not isinstance(wanted, list)]
        if scalars:
            return True
    if fault.code in ("SCH013", "SCH007") and not fault.key:  # about the whole of a value
        depth = len(fault.path)
        inside = any(path[:depth] == fault.path for path in filled)
        return inside or _is_within(fault.path, filled)
    path = fault.path
    if fault.key:
        path = path[:-1]
    return _is_within(path, filled)


def _is_within(path: Path, filled: list[Path]) -> bool:
    for place in filled:
        depth = len(place)
        if path[:depth] == place:
            return True
    return False


def _move_below(place: Path, faults_inside: list[Fault]) -> Iterator[Fault]:
    for fault in faults_inside:
        path = (*place, *fault.path)
        yield replace(fault, path=path)


def _declaration_faults(body: Body) -> Iterator[Fault]:
    """Parameters without a type, outputs without a value, and names of both."""
    for section, needed in (("Parameters", "Type"), ("Outputs", "Value")):
        entries = body.get(section)
        if not isinstance(entries, dict):
            continue
        for name, entry in entries.items():
            if name.startswith(FOR_EACH):
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
