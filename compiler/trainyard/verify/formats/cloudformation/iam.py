"""Policy documents of IAM, whose keys every format writes alike."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.core.cloud.plan import AccessPolicy, Statement
from trainyard.lift.cloud_property import Property
from trainyard.lift.reader import Reader
from trainyard.verify.formats.cloudformation.grammar import length, statements

_KEYS = {
    "effect": "Effect",
    "actions": "Action",
    "not_actions": "NotAction",
    "resources": "Resource",
    "not_resources": "NotResource",
    "principals": "Principal",
    "conditions": "Condition",
}
"""By field, the key of a statement."""


def policy_of(document: Property, what: str, name: str | None = None) -> AccessPolicy | None:
    """A policy: a mapping, or JSON in a text, whose parts all stand at the text; ``None`` where it is unknown."""
    body = document.value
    in_text = isinstance(body, str)
    if in_text:
        try:
            body = json.loads(body)
        except ValueError:
            return None
    whole = document.part(Reader(body, document.at))
    if not isinstance(body, dict) or whole.is_made():
        return None
    found = tuple(_statements(whole))
    if in_text:
        found = tuple(replace(each, at=document.at, origins={}) for each in found)
    return AccessPolicy(
        at=document.at,
        logical=document.resource,
        what=what,
        name=name,
        statements=found,
        characters=length(_known(whole)),
    )


def _known(value: Property) -> Any:
    """A value without what is filled in later, which has no character that is certain."""
    if value.is_made() or isinstance(value.value, str):
        return value.known_text()
    if isinstance(value.value, list):
        return [_known(value.part(item)) for item in value.items()]
    if isinstance(value.value, dict):
        keys = {key: value.part(Reader(key, value.at)).known_text() for key in value.value}
        return {known: _known(value.inside(key)) for key, known in keys.items()}
    return value.value


def _statements(document: Property) -> Iterator[Statement]:
    for path, _ in statements(document.value):
        statement = document.inside(*path)
        found = {field: statement.inside(key) for field, key in _KEYS.items()}
        unread = {field for field, value in found.items() if value.is_filled_in()}
        if not found["conditions"].is_made():
            unread.discard("conditions")
        conditions = found["conditions"].entries()
        yield Statement(
            at=statement.at,
            effect=Reader.text(found["effect"]),
            actions=found["actions"].texts(),
            not_actions=found["not_actions"].texts(),
            resources=found["resources"].texts(),
            not_resources=found["not_resources"].texts(),
            principals=_principals(found["principals"]),
            not_principals=bool(statement.inside("NotPrincipal")),
            conditions={operator: tuple(keys.mapping()) for operator, keys in conditions},
            origins={field: value.at for field, value in found.items() if field != "effect"},
            unread=frozenset(unread),
        )


def _principals(value: Property) -> Mapping[str, tuple[str, ...]]:
    if isinstance(value.value, str):
        return {value.value: (value.value,)}
    if value.is_made():
        return {}
    return {kind: value.inside(kind).texts() for kind, _ in value.entries()}
