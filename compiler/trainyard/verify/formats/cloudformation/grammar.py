"""The grammar of IAM policies, as structures: what a statement may hold.

Source: IAM user guide, "Grammar of the IAM JSON policy language" and "IAM JSON policy elements reference" (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from trainyard.verify.fault import SCHEMA, Fault, Path
from trainyard.verify.node import Node, NodeTable
from trainyard.verify.structure import Raw
from trainyard.verify.walk import walk

IDENTITY, TRUST, RESOURCE = "identity", "trust", "resource"
"""What a policy is attached to: an identity, a role that is assumed, or a resource."""

# Where resources have policies, and of which kind.
DOCUMENTS: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "AWS::IAM::Role": (
        (("AssumeRolePolicyDocument",), TRUST),
        (("Policies", "*", "PolicyDocument"), IDENTITY),
    ),
    "AWS::IAM::ManagedPolicy": ((("PolicyDocument",), IDENTITY),),
    "AWS::IAM::Policy": ((("PolicyDocument",), IDENTITY),),
    "AWS::IAM::RolePolicy": ((("PolicyDocument",), IDENTITY),),
    "AWS::SQS::QueuePolicy": ((("PolicyDocument",), RESOURCE),),
    "AWS::S3::BucketPolicy": ((("PolicyDocument",), RESOURCE),),
}

_TEXTS: Raw = {"type": ["string", "array"], "items": {"type": "string"}}
_PRINCIPAL: Raw = {
    "type": ["string", "object"],
    "properties": dict.fromkeys(("AWS", "Service", "Federated", "CanonicalUser"), _TEXTS),
}
_SHAPES: dict[str, Raw] = {
    "Principal": _PRINCIPAL,
    "NotPrincipal": _PRINCIPAL,
    "Resource": _TEXTS,
    "NotResource": _TEXTS,
}
_ELEMENTS: dict[str, tuple[str, ...]] = {
    IDENTITY: ("Resource", "NotResource"),
    TRUST: ("Principal", "NotPrincipal"),
    RESOURCE: ("Principal", "NotPrincipal", "Resource", "NotResource"),
}
# Of each pair a statement has one.
_NEEDED: dict[str, tuple[tuple[str, str], ...]] = {
    IDENTITY: (("Action", "NotAction"), ("Resource", "NotResource")),
    TRUST: (("Action", "NotAction"), ("Principal", "NotPrincipal")),
    RESOURCE: (("Action", "NotAction"), ("Principal", "NotPrincipal"), ("Resource", "NotResource")),
}


@cache
def _node(kind: str) -> Node:
    names = _ELEMENTS[kind]
    elements = {name: _SHAPES[name] for name in names}
    statement: Raw = {
        "type": "object",
        "required": ["Effect"],
        "properties": {
            "Sid": {"type": "string"},
            "Effect": {"type": "string", "enum": ["Allow", "Deny"]},
            "Action": _TEXTS,
            "NotAction": _TEXTS,
            "Condition": {"type": "object", "any": True},
            **elements,
        },
    }
    document: Raw = {
        "type": "object",
        "required": ["Statement"],
        "properties": {
            "Version": {"type": "string", "enum": ["2012-10-17", "2008-10-17"]},
            "Id": {"type": "string"},
            "Statement": {
                **statement,
                "type": ["array", "object"],
                "items": statement,
                "required": [],
            },
        },
    }
    return NodeTable([]).node(document)


def policy_faults(document: Any, kind: str) -> list[Fault]:
    """Faults of a policy; paths are into it. One in a text of JSON has its faults at the text."""
    if isinstance(document, str):
        try:
            document = json.loads(document)
        except ValueError as fault:
            message = f"a policy that is no JSON: {str(fault).lower()}"
            return [Fault(SCHEMA, "SCH002", (), message, "write it as a mapping")]
        inside = policy_faults(document, kind)
        return [replace(fault, path=()) for fault in inside]
    if not isinstance(document, dict):
        return []  # reported by the structure of the resource
    wrong = walk(_node(kind), document)
    return [*wrong, *_incomplete(document, kind)]


def statements(document: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The statements of a policy, with their paths into it: a list, or one alone."""
    written = None
    if isinstance(document, dict):
        written = document.get("Statement")
    if isinstance(written, dict):
        yield ("Statement",), written
    elif isinstance(written, list):
        for index, statement in enumerate(written):
            if isinstance(statement, dict):
                yield ("Statement", index), statement


_COMPACT = json.JSONEncoder(separators=(",", ":"))


def length(document: Any) -> int:
    """How many characters IAM counts of a policy: it counts no white space (IAM quotas)."""
    return len("".join(_COMPACT.encode(document).split()))


def _incomplete(document: dict[str, Any], kind: str) -> Iterator[Fault]:
    """Statements that lack an element that this kind of policy must have."""
    for path, statement in statements(document):
        for one, other in _NEEDED[kind]:
            if one not in statement and other not in statement:
                yield Fault(
                    SCHEMA,
                    "SCH003",
                    (*path, one),
                    f"a statement has neither `{one}` nor `{other}`",
                    f"add `{one}`",
                )
            elif one in statement and other in statement:
                yield Fault(
                    SCHEMA,
                    "SCH013",
                    (*path, other),
                    f"a statement has both `{one}` and `{other}`",
                    "remove one of the two",
                    key=True,
                )
        if isinstance(document.get("Statement"), dict) and "Effect" not in statement:
            yield Fault(
                SCHEMA,
                "SCH003",
                (*path, "Effect"),
                "`Effect` is missing",
                "one of `Allow` and `Deny`",
            )
