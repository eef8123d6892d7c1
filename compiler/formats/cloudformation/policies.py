"""IAM policy documents in a template."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compiler.core.cloud.plan import AccessPolicy, Statement
from compiler.formats.cloudformation.functions import is_call, text_of
from compiler.formats.cloudformation.grammar import length, statements
from compiler.formats.cloudformation.values import several_at, unread_of
from compiler.lift.reader import Reader
from compiler.places import Route


def policy_of(
    value: Reader, logical: str, what: str, name: str | None = None
) -> AccessPolicy | None:
    """A policy: a mapping, or JSON in a text, whose parts all stand at the text; ``None`` where it is unknown."""
    body = value.value
    in_text = isinstance(body, str)
    if in_text:
        try:
            body = json.loads(body)
        except ValueError:
            return None
    if not isinstance(body, dict) or is_call(body):
        return None
    read = []
    for path, written in statements(body):
        place = Route((*value.at, *path))
        statement = _statement(Reader(written, place))
        if in_text:  # no place in it is known
            statement = replace(statement, at=value.at, origins={})
        read.append(statement)
    return AccessPolicy(
        at=value.at,
        logical=logical,
        what=what,
        name=name,
        statements=tuple(read),
        characters=characters(body),
    )


def characters(body: Any) -> int:
    """The least number of characters that IAM counts in a policy: without white space and what a function fills in."""
    return length(_known(body))


def _known(value: Any) -> Any:
    if is_call(value):
        return _without_names(text_of(value) or "")
    if isinstance(value, dict):
        items = value.items()
        return {key: _known(item) for key, item in items}
    if isinstance(value, list):
        return [_known(item) for item in value]
    return value


def _without_names(text: str) -> str:
    """The text of ``Fn::Sub`` without what is put into it."""
    first, *rest = text.split("${")
    after = [part.partition("}") for part in rest]
    return first + "".join(text for _, _, text in after)


def _statement(body: Reader) -> Statement:
    action = body / "Action"
    not_action = body / "NotAction"
    resource = body / "Resource"
    not_resource = body / "NotResource"
    principal = body / "Principal"
    condition = body / "Condition"
    unread = unread_of(
        effect=body / "Effect", actions=action, resources=resource, principals=principal
    )
    if is_call(condition.value):
        unread |= {"conditions"}
    conditions = {}
    for operator, keys in condition.entries():
        names = keys.mapping()
        conditions[operator] = tuple(names)
    return Statement(
        at=body.at,
        effect=(body / "Effect").text(),
        actions=texts_at(action),
        not_actions=texts_at(not_action),
        resources=texts_at(resource),
        not_resources=texts_at(not_resource),
        principals=_principals(principal),
        not_principals=bool(body / "NotPrincipal"),
        conditions=conditions,
        origins={
            "actions": action.at,
            "not_actions": not_action.at,
            "resources": resource.at,
            "not_resources": not_resource.at,
            "principals": principal.at,
            "conditions": condition.at,
        },
        unread=unread,
    )


def texts_at(value: Reader) -> tuple[str, ...]:
    """The texts of a list, or a single text as a list of one. Unknown items are empty, so that indices stay."""
    texts = map(text_of, several_at(value.value))
    return tuple(text or "" for text in texts)


def _principals(value: Reader) -> Mapping[str, tuple[str, ...]]:
    if value.text() is not None:
        return {value.word(): (value.word(),)}
    if is_call(value.value):
        return {}
    kinds = value.entries()
    return {kind: texts_at(names) for kind, names in kinds}
