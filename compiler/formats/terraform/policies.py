"""IAM policy documents in a Terraform configuration."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from compiler.core.cloud.plan import AccessPolicy, Statement
from compiler.formats.cloudformation.grammar import length, statements
from compiler.formats.terraform.values import is_filled_in, several_at, texts_at
from compiler.lift.reader import Reader
from compiler.places import Route


def policy_of(
    value: Reader, logical: str, what: str, name: str | None = None
) -> AccessPolicy | None:
    """A policy, which is JSON in a text; ``None`` where an expression makes it."""
    try:
        body = json.loads(value.word())
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    read = []
    for path, written in statements(body):
        place = Route((*value.at, *path))
        statement = _statement(Reader(written, place))
        # No place in a text is known.
        read.append(replace(statement, at=value.at, origins={}))
    return AccessPolicy(
        at=value.at,
        logical=logical,
        what=what,
        name=name,
        statements=tuple(read),
        characters=_characters(value.word()),
    )


def _characters(text: str) -> int:
    """The least number of characters that IAM counts: without white space and what an expression gives."""
    without = re.sub(r"(?<!\$)\$\{[^{}]*\}", "", text)
    return length(json.loads(without))


def _has_filled(values: Reader) -> bool:
    items = several_at(values)
    return any(is_filled_in(item.value) for item in items)


def _statement(body: Reader) -> Statement:
    principal = body / "Principal"
    fields = {
        "actions": body / "Action",
        "not_actions": body / "NotAction",
        "resources": body / "Resource",
        "not_resources": body / "NotResource",
    }
    given = fields.items()
    unread = {name for name, field in given if _has_filled(field)}
    conditions = {
        operator: tuple(keys.mapping()) for operator, keys in (body / "Condition").entries()
    }
    return Statement(
        at=body.at,
        effect=(body / "Effect").text(),
        actions=texts_at(fields["actions"]),
        not_actions=texts_at(fields["not_actions"]),
        resources=texts_at(fields["resources"]),
        not_resources=texts_at(fields["not_resources"]),
        principals=_principals(principal),
        not_principals=bool(body / "NotPrincipal"),
        conditions=conditions,
        unread=frozenset(unread),
    )


def _principals(value: Reader) -> dict[str, tuple[str, ...]]:
    if value.text() is not None:
        return {value.word(): (value.word(),)}
    kinds = value.entries()
    return {kind: texts_at(names) for kind, names in kinds}
