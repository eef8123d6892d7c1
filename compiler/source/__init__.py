"""Pass 1: YAML text to values that know their file, line and column."""

from compiler.source.route import Key, Route
from compiler.source.tree import (
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
