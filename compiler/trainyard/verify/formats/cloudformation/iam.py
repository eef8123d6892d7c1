"""IAM policy documents, as templates and Terraform's modules both have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from trainyard.core.cloud.plan import Statement
from trainyard.language.places import Route
from trainyard.lift.reader import Reader
from trainyard.verify.formats.cloudformation.functions import is_call
from trainyard.verify.formats.cloudformation.grammar import statements

Texts = Callable[[Reader], tuple[str, ...]]
"""Reads the texts of a list, as far as the language of the file says them."""


def statements_of(
    document: Any, at: Route, read: Callable[[Reader], Statement], *, placed: bool
) -> tuple[Statement, ...]:
    """The statements of a document. ``placed``: its parts have places; those of JSON in a text are all at the text."""
    found = []
    for path, written in statements(document):
        statement = read(Reader(written, Route((*at, *path))))
        if not placed:
            statement = replace(statement, at=at, origins={})
        found.append(statement)
    return tuple(found)


def statement_of(body: Reader, texts: Texts, unread: frozenset[str]) -> Statement:
    """A statement. ``unread``: names of its fields that the file leaves to a function or an expression."""
    action = body / "Action"
    not_action = body / "NotAction"
    resource = body / "Resource"
    not_resource = body / "NotResource"
    principal = body / "Principal"
    condition = body / "Condition"
    conditions = {}
    for operator, keys in condition.entries():
        names = keys.mapping()
        conditions[operator] = tuple(names)
    return Statement(
        at=body.at,
        effect=(body / "Effect").text(),
        actions=texts(action),
        not_actions=texts(not_action),
        resources=texts(resource),
        not_resources=texts(not_resource),
        principals=_principals(principal, texts),
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


def _principals(value: Reader, texts: Texts) -> Mapping[str, tuple[str, ...]]:
    if value.text() is not None:
        return {value.word(): (value.word(),)}
    if is_call(value.value):
        return {}
    kinds = value.entries()
    return {kind: texts(names) for kind, names in kinds}
