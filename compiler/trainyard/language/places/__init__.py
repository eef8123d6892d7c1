"""Places: a value knows its file, line and column, and the path of keys that leads to it."""

from trainyard.language.places.route import Key, Route
from trainyard.language.places.tree import (
    Document,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    SourceFile,
    Span,
)

__all__ = [
    "Document",
    "Key",
    "MappingNode",
    "Node",
    "Route",
    "ScalarNode",
    "SequenceNode",
    "SourceFile",
    "Span",
]
