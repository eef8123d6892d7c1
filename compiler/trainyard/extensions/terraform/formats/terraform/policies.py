"""IAM policy documents in a Terraform configuration."""

from __future__ import annotations

import json
import re

from trainyard.core.cloud.plan import AccessPolicy, Statement
from trainyard.extensions.terraform.formats.terraform.values import (
    is_filled_in,
    several_at,
    texts_at,
)
from trainyard.lift.reader import Reader
from trainyard.verify.formats.cloudformation.grammar import length
from trainyard.verify.formats.cloudformation.iam import statement_of, statements_of


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
    return AccessPolicy(
        at=value.at,
        logical=logical,
        what=what,
        name=name,
        statements=statements_of(body, value.at, _statement, placed=False),
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
    fields = {
        "actions": body / "Action",
        "not_actions": body / "NotAction",
        "resources": body / "Resource",
        "not_resources": body / "NotResource",
    }
    given = fields.items()
    unread = frozenset(name for name, field in given if _has_filled(field))
    return statement_of(body, texts_at, unread)
