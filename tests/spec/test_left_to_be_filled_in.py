"""An id or ARN of a spec that was left to be filled in is refused, whatever people write for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.spec.test_bounds import VALUES

pytestmark = pytest.mark.slow

_ID = re.compile(r"(?<=-)0a1b2c3d\w+|(?<=:)\d{12}(?=:)")
MARKS = [
    *(
        "<your-id>",
        "<<ID>>",
        "${ID}",
        "$ID",
        "{{ .Values.id }}",
        "REPLACE_ME",
        "CHANGEME",
        "YOUR_ID",
    ),
    *("TODO", "PLACEHOLDER_ID", "xxxxxxxx", "XXXXXXXXXXXX", "..."),
]


def ids() -> Iterator[tuple[str, Any, str]]:
    """The keys whose example is an id or ARN, with their type and the example."""
    for key in VALUES:
        for example in key.field.examples or ():
            first = example[0] if isinstance(example, list) and example else example
            if isinstance(first, str) and _ID.search(first):
                yield key.path, key.declared, first


IDS = {key: (declared, example) for key, declared, example in ids()}


def test_there_are_ids() -> None:
    assert len(IDS) > 15


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("key", IDS)
def test_a_mark_is_refused(key: str, mark: str) -> None:
    declared, example = IDS[key]
    adapter = TypeAdapter(declared)
    for written in {mark, _ID.sub(lambda _: mark, example, count=1)}:
        for value in (written, [written]):
            with pytest.raises(ValidationError):
                adapter.validate_python(value)
