"""PyYAML, which brings libyaml. Its own reader, for where the wheel has no libyaml, has expressions that took longer to
compile than all else of the import: 2 % of a ``check``.
"""

from __future__ import annotations

from compiler.regex import compiled_at_first_use

with compiled_at_first_use():
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
