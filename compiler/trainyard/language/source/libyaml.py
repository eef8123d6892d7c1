"""PyYAML, which brings libyaml: imported in one place.

Its own reader and writer take up to ten times as long as libyaml's for the same values.
"""

from __future__ import annotations

from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

# Where PyYAML was built without libyaml, its own.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

__all__ = [
    "DUMPER",
    "LOADER",
    "AliasEvent",
    "CollectionEndEvent",
    "CollectionStartEvent",
    "MappingStartEvent",
    "NodeEvent",
    "ScalarEvent",
    "SequenceStartEvent",
    "StreamEndEvent",
    "yaml",
]
