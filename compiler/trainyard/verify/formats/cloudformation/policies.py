"""IAM policy documents in a template."""

from __future__ import annotations

import json
from typing import Any

from trainyard.core.cloud.plan import AccessPolicy, Statement
from trainyard.lift.reader import Reader
from trainyard.verify.formats.cloudformation.functions import is_call, is_filled_in, text_of
from trainyard.verify.formats.cloudformation.grammar import length
from trainyard.verify.formats.cloudformation.iam import statement_of, statements_of


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
    return AccessPolicy(
        at=value.at,
        logical=logical,
        what=what,
        name=name,
        statements=statements_of(body, value.at, _statement, placed=not in_text),
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
    unread = {name for name, key in _KEYS.items() if is_filled_in((body / key).value)}
    if is_call((body / "Condition").value):
        unread.add("conditions")
    return statement_of(body, _texts_at, frozenset(unread))


_KEYS = {
    "effect": "Effect",
    "actions": "Action",
    "resources": "Resource",
    "principals": "Principal",
}
"""By field, the key of a statement."""


def _texts_at(value: Reader) -> tuple[str, ...]:
    """The texts of a list, or a single text as a list of one. Unknown items are empty, so that indices stay."""
    if not value:
        return ()
    items = value.value if isinstance(value.value, list) else [value.value]
    return tuple(text_of(item) or "" for item in items)
