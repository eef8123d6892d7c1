"""The keys of DeepSpeed's configuration (``data/deepspeed.json``, with its source)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_DATA = Path(__file__).parent / "data" / "deepspeed.json"


@cache
def keys(section: str) -> frozenset[str]:
    """The keys of a section: ``top``, or ``zero_optimization``."""
    return frozenset(json.loads(_DATA.read_bytes())[section])
