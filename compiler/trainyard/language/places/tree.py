"""The source tree: YAML values that remember where they were written."""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.places.route import Key, Route


class SourceFile:
    """One text that was read: the name to show for it and the text itself."""

    __slots__ = ("_starts", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._starts: list[int] | None = None

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0]
            start = self.text.find("\n") + 1
            while start > 0:
                self._starts.append(start)
                start = self.text.find("\n", start) + 1
        return self._starts

    def swap(self, text: str) -> str:
        """Put another text in the place of this one, which is returned."""
        before, self.text, self._starts = self.text, text, None
        return before

    def line(self, number: int) -> str:
        """The text of a line (1-based) without its line break; empty past the end."""
        starts = self._line_starts()
        if not 1 <= number <= len(starts):
            return ""
        start = starts[number - 1]
        end = self.text.find("\n", start)
        if end < 0:
            end = len(self.text)
        return self.text[start:end].rstrip("\r")

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (both 1-based, in characters) of an offset into the text."""
        starts = self._line_starts()
        row = bisect_right(starts, offset)
        start = starts[row - 1]
        return row, offset - start + 1


@dataclass(slots=True, unsafe_hash=True)
class Span:
    """A stretch of a source file. Lines and columns are 1-based; the end column is exclusive.

    A value: never changed after it was made. It is not `frozen`, since that makes each of 500,000 spans three times as
    slow to make.
    """

    file: SourceFile
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}:{self.column}"


@dataclass(slots=True)
class Node:
    """A YAML value with its place. ``key_span`` is the place of its key, if it has one."""

    span: Span
    key_span: Span | None = dataclasses.field(default=None, kw_only=True)

    def to_python(self) -> Any:
        """The plain value: ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` or ``None``."""
        raise NotImplementedError

    def child(self, key: Key) -> Node | None:
        """The value under a key or index, or ``None``."""
        return None


@dataclass(slots=True)
class ScalarNode(Node):
    """A scalar: its value after resolution, its text as written, and whether it was quoted."""

    value: str | int | float | bool | None
    text: str
    quoted: bool = False

    def to_python(self) -> Any:
        return self.value


def text_node(node: Node | None) -> ScalarNode | None:
    """The node, if it is a text."""
    if isinstance(node, ScalarNode) and isinstance(node.value, str):
        return node
    return None


@dataclass(slots=True)
class SequenceNode(Node):
    """A list."""

    items: list[Node]

    def to_python(self) -> Any:
        return [item.to_python() for item in self.items]

    def child(self, key: Key) -> Node | None:
        if isinstance(key, int) and 0 <= key < len(self.items):
            return self.items[key]
        return None


@dataclass(slots=True)
class MappingNode(Node):
    """A mapping with string keys, in the order of the file."""

    items: dict[str, Node]

    def to_python(self) -> Any:
        items = self.items.items()
        return {key: value.to_python() for key, value in items}

    def child(self, key: Key) -> Node | None:
        if not isinstance(key, str):
            return None
        return self.items.get(key)


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: the tree, and where it came from.

    A spec that was put together from several files is one document too; its nodes name their own files.
    """

    root: Node

    def node(self, route: Route) -> tuple[Node, int]:
        """The node of a route, or of its nearest ancestor that exists, and how many keys were followed.

        A list of one may be written as its item: the first item of a mapping is the mapping.
        """
        node = self.root
        for depth, key in enumerate(route):
            child = node.child(key)
            if child is not None:
                node = child
            elif key != 0 or not isinstance(node, MappingNode):
                return node, depth
        return node, len(route)

    def span(self, route: Route, *, key: bool = False) -> Span:
        """The place of a value, or of its key.

        A route that does not exist (a field that was left out) points at the key of its nearest
        ancestor, since that is where the field is missing. Block values point at their key too: a
        caret under a whole block helps nobody. A number below a block of text is one of its lines, from 0.
        """
        node, depth = self.node(route)
        is_missing = depth < len(route)
        is_block = node.span.line != node.span.end_line
        if is_missing and is_block:
            line = _line_of_text(node, route[depth])
            if line is not None:
                return line
        if node.key_span is None:
            return node.span
        if key or is_missing or is_block:
            return node.key_span
        return node.span

    def routes(self) -> Iterator[tuple[Route, Node]]:
        """Every node with its route, parents first."""
        root = (Route(), self.root)
        stack: list[tuple[Route, Node]] = [root]
        while stack:
            route, node = stack.pop()
            yield route, node
            children: Iterable[tuple[Key, Node]] = ()
            if isinstance(node, MappingNode):
                children = node.items.items()
            elif isinstance(node, SequenceNode):
                children = enumerate(node.items)
            below = [(route / key, child) for key, child in children]
            stack.extend(reversed(below))


def _line_of_text(node: Node, number: Key) -> Span | None:
    """The place of one line of a block of text; ``None`` where its lines are not those of the file, as of folded
    ones."""
    text = text_node(node)
    if text is None or not isinstance(number, int):
        return None
    lines = str(text.value).split("\n")
    place = text.span.line + 1 + number
    written = text.span.file.line(place)
    if number >= len(lines) or written.strip() != lines[number].strip():
        return None
    start = len(written) - len(written.lstrip()) + 1
    return Span(text.span.file, place, start, place, max(len(written.rstrip()), start) + 1)
