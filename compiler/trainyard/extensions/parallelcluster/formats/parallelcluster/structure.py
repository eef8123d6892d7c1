"""The structure of ParallelCluster's configuration, without a word of its prose (``derive`` writes it)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.verify.node import Node, NodeTable

VERSION = "3.16.1"
FILE = Path(__file__).parent / "data" / f"{VERSION}.json"


@cache
def _data() -> Any:
    return json.loads(FILE.read_bytes())


@cache
def structure() -> Node:
    """The whole configuration."""
    raw = _data()
    return NodeTable(raw["defs"]).node(raw["schema"])


@cache
def updates() -> Mapping[str, str]:
    """What ParallelCluster does where a key changes: its update policy by path, items of lists below ``[]``."""
    found: Mapping[str, str] = _data()["updates"]
    return found
