"""The committed schemas that editors use. That they are what is printed, and are schemas, is tested by
``cli/test_schema.py``."""

from __future__ import annotations

import json
from functools import cache

from jsonschema import Draft202012Validator
from running import ROOT


@cache
def committed(kind: str) -> Draft202012Validator:
    """The validator of a kind's schema."""
    text = (ROOT / "docs" / "schema" / f"{kind.lower()}.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))
