"""Parses documents of the same shape once: texts that differ only in plain scalars at line ends.

Thousands of jobs of one repository are the same but for names and numbers. The first of a shape is only remembered, the
second is parsed and becomes a template, and from then on scalars are put into that. They are of one line and have no
character that means anything to YAML, so that the structure around them cannot change. Most lines are those of other
documents too, and each is taken apart once. Parts of documents whose scalars are equal are the very same object: to
judge one is to judge all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.places.route import Route
from trainyard.language.places.tree import Node, ScalarNode, SourceFile
from trainyard.language.source.parse import parse

_PLAIN = r"[A-Za-z0-9][\w./@=+-]*(?::[\w./@=+-]+)*"
# Without escapes: what stands between the quotes is the text.
_QUOTED = r'"[^"\\\n]*"' + r"|'[^'\n]*'"
_SCALAR = re.compile(rf"[:-] ({_PLAIN}|{_QUOTED})\Z", re.ASCII)
_QUOTES = "\"'"
_HEAD = re.compile(r"(?: *#.*\n)+")  # comments before the first value
_MOST = 512  # shapes, and different values of one part, that are remembered
_MOST_LINES = 4096  # that are remembered
_LONGEST = 100_000  # characters of a document: a longer one is hardly one of many

_Place = tuple[int, int]  # line and column


class OddError(Exception):
    """Something that the composer has to look at."""


@dataclass(slots=True)
class Line:
    """A line without its scalar, and that: as it is written, its value, and what is equal where values are the same."""

    gap: str
    scalar: str = ""
    value: Any = None
    key: Any = None


class _Lines(dict[str, Line]):
    """The lines of texts in parts, by what is written: each is taken apart when it is first asked for."""

    def __init__(self, scalar: Callable[[str], Any]) -> None:
        super().__init__()
        self._scalar = scalar

    def __missing__(self, text: str) -> Line:
        line = self._parted(text)
        if len(self) < _MOST_LINES:
            self[text] = line
        return line

    def _parted(self, text: str) -> Line:
        match = _SCALAR.search(text)
        if match is None:
            return Line(text)
        scalar = match[1]
        try:
            value = self._read(scalar)
        except OddError:
            return Line(text)
        return Line(f"{text[: match.start(1)]}\0", scalar, value, _typed(value))

    def _read(self, scalar: str) -> Any:
        if scalar[0] in _QUOTES:
            return scalar[1:-1]
        return self._scalar(scalar)


class Shapes:
    """The shapes that were met, and a template for each that was met twice.

    ``values`` reads a text, and ``scalar`` one plain scalar: just as every other document is read.
    """

    def __init__(
        self, values: Callable[[str], list[Any] | None], scalar: Callable[[str], Any]
    ) -> None:
        self._values = values
        self._lines = _Lines(scalar)
        self._templates: dict[str, Part | None] = {}
        self._once: set[str] = set()

    def value(self, text: str) -> Any:
        """The value of the one document of a text, by the template of its shape; ``None`` where there is none."""
        if len(text) > _LONGEST:
            return None
        head = _HEAD.match(text)
        if head is not None:
            text = text[head.end() :]
        lines = [self._lines[line] for line in text.split("\n")]
        shape = "\n".join([line.gap for line in lines])
        if shape not in self._templates:
            if not self._met(shape):
                return None
            self._templates[shape] = self._template(text, lines)
        template = self._templates[shape]
        if template is None:
            return None
        scalars = [line for line in lines if line.scalar]
        keys = tuple([line.key for line in scalars])
        return template.value(scalars, keys)

    def _met(self, shape: str) -> bool:
        """Whether a shape was met before; now it was."""
        if shape in self._once:
            return True
        if len(self._once) < _MOST:
            self._once.add(shape)
        return False

    def _template(self, text: str, lines: Sequence[Line]) -> Part | None:
        """The template of a text; ``None`` where a scalar is less than a whole value, or there is not one document."""
        values = self._values(text)
        documents, _ = parse(SourceFile("", text))
        if values is None:
            return None
        if len(values) != 1 or len(documents) != 1:
            return None
        if not isinstance(values[0], dict | list):
            return None
        routes: dict[_Place, tuple[Route, Node]] = {}
        for route, node in documents[0].routes():
            place = (node.span.line, node.span.column)
            routes[place] = (route, node)
        numbers: dict[Route, int] = {}
        for row, line in enumerate(lines, 1):
            if not line.scalar:
                continue
            place = (row, len(line.gap))
            if place not in routes:
                return None
            route, node = routes[place]
            if not _is_whole(line.scalar, node):
                return None
            numbers[route] = len(numbers)
        return Part(values[0], Route(), numbers)


def _is_whole(scalar: str, node: Node) -> bool:
    """Whether the text of a scalar is all of a node's."""
    quoted = scalar[0] in _QUOTES
    if quoted:
        written = scalar[1:-1]
    else:
        written = scalar
    if not isinstance(node, ScalarNode):
        return False
    if node.quoted != quoted:
        return False
    return node.text == written


class Part:
    """A mapping or list of a template, with the numbers of the scalars that are in it: ``first`` to before ``last``.

    ``numbers``: the number of each scalar by its route. What has none of them is the same in every document.
    """

    __slots__ = ("_known", "_parts", "_scalars", "_value", "first", "last")

    def __init__(self, value: Any, route: Route, numbers: Mapping[Route, int]) -> None:
        self._value = value
        self._scalars: list[tuple[Any, int]] = []
        self._parts: list[tuple[Any, Part]] = []
        items: Iterable[tuple[Any, Any]] = enumerate(value)
        if isinstance(value, dict):
            items = value.items()
        for key, item in items:
            number = numbers.get(route / key)
            if number is not None:
                self._scalars.append((key, number))
            elif isinstance(item, dict | list):
                part = Part(item, route / key, numbers)
                if part.last:
                    self._parts.append((key, part))
        own = [(number, number + 1) for _, number in self._scalars]
        own += [(part.first, part.last) for _, part in self._parts]
        self.first: int = min((first for first, _ in own), default=0)
        self.last: int = max((last for _, last in own), default=0)
        self._known: dict[tuple[Any, ...], Any] = {}

    def value(self, scalars: Sequence[Line], keys: tuple[Any, ...]) -> Any:
        """The value with other scalars, which differ where their ``keys`` do; the same object for equal ones."""
        own_keys = keys[self.first : self.last]
        value = self._known.get(own_keys)
        if value is None:
            value = self._new(scalars, keys)
            if len(self._known) < _MOST:
                self._known[own_keys] = value
        return value

    def _new(self, scalars: Sequence[Line], keys: tuple[Any, ...]) -> Any:
        value = self._value.copy()
        for key, number in self._scalars:
            value[key] = scalars[number].value
        for key, part in self._parts:
            value[key] = part.value(scalars, keys)
        return value


def _typed(scalar: Any) -> Any:
    """A scalar as a key: `1`, `1.0` and `true` are equal to Python, and a text is no number."""
    if scalar.__class__ is str:
        return scalar
    return (scalar.__class__, scalar)
