"""Parses plain texts to values without places, in half the time that nodes take.

Whatever the composer would report, or reads in a way of its own (anchors, tags, merge keys, values that readers of YAML
differ about), is left to it: the answer is then ``None``, and the text is composed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from trainyard.extensions.lint.shapes import OddError, Shapes
from trainyard.language.source.compose import MAX_DEPTH, MAX_NODES, events
from trainyard.language.source.libyaml import (
    CollectionEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
    yaml,
)
from trainyard.language.source.scalars import Refusal, Value, resolve
from trainyard.language.source.syntax import has_forbidden


class PlainReader:
    """Reads texts, and remembers the shapes of their documents."""

    def __init__(self) -> None:
        self._shapes = Shapes(_values, _scalar)

    def values(self, text: str) -> list[Any] | None:
        """As ``plain_values``. Parts of values that are equal may be one object: nobody changes them."""
        if has_forbidden(text):
            return None
        values: list[Any] = []
        for document in text.removeprefix("---\n").split("\n---\n"):
            value = self._shapes.value(document)
            if value is not None:
                values.append(value)
                continue
            of_document = _values(document)
            if of_document is None:
                return _values(text)  # an empty document among others, or something odd
            values += of_document
        return values


def plain_values(text: str) -> list[Any] | None:
    """The value of every document that is not empty, as ``Document.root.to_python`` gives it; ``None`` for a text that
    has none, or anything odd."""
    if has_forbidden(text):
        return None
    return _values(text)


def _values(text: str) -> list[Any] | None:
    try:
        documents = _Reader(events(text)).documents()
        return list(documents) or None
    except (OddError, yaml.YAMLError):
        return None


class _Reader:
    """Builds the values of one text from the parser's events."""

    def __init__(self, next_event: Callable[[], Any]) -> None:
        self._next = next_event
        self._count = 0

    def documents(self) -> Iterator[Any]:
        """Every document that is not empty."""
        self._next()  # the start of the stream
        while self._next().__class__ is not StreamEndEvent:
            first = self._next()
            value = self._value(first, 0)
            self._next()  # the end of the document
            self._counted(1)
            is_scalar = first.__class__ is ScalarEvent
            if not is_scalar or first.value or first.style:
                yield value

    def _value(self, event: Any, depth: int) -> Any:
        if event.anchor is not None:  # an alias has the name of its anchor
            raise OddError
        cls = event.__class__
        if event.tag is not None:
            raise OddError
        if cls is ScalarEvent:
            if event.style:
                return event.value
            return _scalar(event.value)
        if depth >= MAX_DEPTH:
            raise OddError
        if cls is MappingStartEvent:
            return self._mapping(depth + 1)
        return self._list(event, depth + 1)

    def _mapping(self, depth: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        next_event, value = self._next, self._value
        key = next_event()
        while key.__class__ is ScalarEvent:
            name = key.value
            if name in mapping:
                raise OddError
            if key.anchor is not None or key.tag is not None:
                raise OddError
            if not key.style and (name == "<<" or _scalar(name).__class__ is not str):
                raise OddError
            mapping[name] = value(next_event(), depth)
            key = next_event()
        if not isinstance(key, CollectionEndEvent):
            raise OddError  # a key that is no scalar
        self._counted(len(mapping))
        return mapping

    def _list(self, event: Any, depth: int) -> list[Any]:
        assert event.__class__ is SequenceStartEvent
        items: list[Any] = []
        next_event, value = self._next, self._value
        item = next_event()
        while not isinstance(item, CollectionEndEvent):
            items.append(value(item, depth))
            item = next_event()
        self._counted(len(items))
        return items

    def _counted(self, more: int) -> None:
        self._count += more
        if self._count > MAX_NODES:
            raise OddError


@lru_cache(maxsize=8192)
def _scalar(text: str) -> Value:
    """The value of a scalar without quotes."""
    value = resolve(text)
    if isinstance(value, Refusal):
        raise OddError
    return value
