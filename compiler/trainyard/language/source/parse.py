"""Pass 1: one parse gives data, the place of every key and value, and every fault of the text."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Mapping
from typing import Any

from trainyard.language.diagnostics.diagnostic import Diagnostic, error
from trainyard.language.places.tree import Document, SourceFile, Span
from trainyard.language.source.read import decode, read

__all__ = ["decode", "parse", "read"]

MAX_RESTARTS = 100
"""Most documents of one text that may be broken; what comes after them is not read."""

_DOCUMENT_START = re.compile(r"^---(?=\s|$)", re.MULTILINE)


def parse(
    file: SourceFile, *, pure: bool = False, tags: Mapping[str, str] | None = None
) -> tuple[list[Document], list[Diagnostic]]:
    """All documents of a text (empty ones left out) and all faults of it.

    A syntax error ends its document; parsing goes on at the next ``---``. A text without any document
    is an error too. ``pure`` uses PyYAML's own parser even where libyaml is there. ``tags``: short forms of the format,
    see ``Composer``.
    """
    from trainyard.language.source.syntax import FORBIDDEN, forbidden_characters, has_forbidden

    diagnostics: list[Diagnostic] = []
    text = file.text
    if has_forbidden(text):
        diagnostics.extend(forbidden_characters(file))
        text = re.sub(FORBIDDEN, " ", text)  # same length: places stay true
    documents = _without_gc(lambda: _documents(file, text, diagnostics, pure, tags or {}))
    if not documents and not diagnostics:
        diagnostics.append(
            error(
                "YML019",
                f"`{file.name}` has no content",
                at=Span(file, 1, 1, 1, 1),
                help="begin with `apiVersion:`, `kind:`, `metadata:` and `spec:`",
            )
        )
    return documents, diagnostics


def _documents(
    file: SourceFile, text: str, diagnostics: list[Diagnostic], pure: bool, tags: Mapping[str, str]
) -> list[Document]:
    """Documents up to the first syntax error, then from the next ``---`` on, and so forth, up to ``MAX_RESTARTS``."""
    from trainyard.language.source.compose import Composer, TooDeep, TooMany, events
    from trainyard.language.source.libyaml import yaml
    from trainyard.language.source.syntax import syntax_error

    documents: list[Document] = []
    rest: str | None = text
    for _ in range(MAX_RESTARTS):
        if rest is None:
            break
        try:
            next_event = events(rest, pure=pure)
            composer = Composer(file, next_event, diagnostics, tags)
            documents.extend(composer.documents())
            return documents
        except yaml.MarkedYAMLError as fault:
            diagnostics.append(syntax_error(file, fault))
            mark = fault.problem_mark or fault.context_mark
            if mark is not None:
                next_line = mark.line + 1
            else:
                next_line = 0
            rest = _after(text, next_line)
        except TooDeep as stop:
            rest = _after(text, stop.line)
        except TooMany:
            return documents
        except yaml.YAMLError as fault:
            diagnostics.append(
                error(
                    "YML002",
                    "text that is not YAML",
                    at=Span(file, 1, 1, 1, 1),
                    notes=(f"the YAML parser says: {fault}",),
                )
            )
            return documents
    return documents


def _after(text: str, lines: int) -> str | None:
    """The text from the first ``---`` after so many lines, with empty lines before it so that places stay true."""
    start = 0
    for _ in range(lines):
        start = text.find("\n", start) + 1
        if start == 0:
            return None
    match = _DOCUMENT_START.search(text, start)
    if match is None:
        return None
    lines_before = text.count("\n", 0, match.start())
    rest = text[match.start() :]
    return "\n" * lines_before + rest


def _without_gc(work: Callable[[], Any]) -> Any:
    """Run with the cyclic collector off: nodes are no garbage, and scanning them doubles the time of large files."""
    if not gc.isenabled():
        return work()
    gc.disable()
    try:
        return work()
    finally:
        gc.enable()
