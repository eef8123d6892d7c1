"""What stands in Python modules, for tests about the code itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def nodes(path: Path, *words: str) -> Iterator[ast.AST]:
    """The nodes of a module in which one of the words stands: to parse every module takes a second."""
    text = path.read_text(encoding="utf-8")
    if any(word in text for word in words):
        yield from ast.walk(ast.parse(text))
