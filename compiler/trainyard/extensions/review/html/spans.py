"""A text of the report as spans: code between backticks (CommonMark 0.31, code spans), and the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.core.blocks import Explained, Strong, Text

_TICK = "`"


class Span(NamedTuple):
    """Some words, and what they are: an element of HTML, or nothing."""

    element: str
    text: str


def spans(text: Text) -> Iterator[Span]:
    """The spans of a text."""
    if isinstance(text, tuple):
        for part in text:
            yield from spans(part)
    elif isinstance(text, Strong):
        yield Span("strong", text.text)
    elif isinstance(text, Explained):
        yield from _spans(text.text)
    else:
        yield from _spans(text)


def _spans(text: str) -> Iterator[Span]:
    """Code is between two runs of as many backticks; a run without its like is a text."""
    rest = text
    while rest:
        before, tick, _ = rest.partition(_TICK)
        if before:
            yield Span("", before)
        if not tick:
            return
        rest = rest[len(before) :]
        run = rest[: len(rest) - len(rest.lstrip(_TICK))]
        end = _end(rest, run)
        if end < 0:
            yield Span("", run)
            rest = rest[len(run) :]
            continue
        yield Span("code", _inner(rest[len(run) : end]))
        rest = rest[end + len(run) :]


def _end(text: str, run: str) -> int:
    """Where the next run of the same length starts; -1 where there is none."""
    at = len(run)
    while (at := text.find(run, at)) >= 0:
        after = text[at:]
        length = len(after) - len(after.lstrip(_TICK))
        if length == len(run):
            return at
        at += length
    return -1


def _inner(text: str) -> str:
    """Code without the one space on either side that keeps its backticks from the marks."""
    if text.startswith(" ") and text.endswith(" ") and text.strip():
        return text[1:-1]
    return text
