"""The committed schema that editors use. That it is what is printed, and is a schema, is tested by
``cli/test_schema.py``."""

from __future__ import annotations

import json
from functools import cache

from jsonschema import Draft202012Validator
from running import ROOT


@cache
def committed() -> Draft202012Validator:
    """The validator of documents of every kind."""
    text = (ROOT / "docs" / "schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))
