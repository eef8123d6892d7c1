"""PyYAML, which brings libyaml: imported in one place."""

from __future__ import annotations

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

__all__ = [
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
