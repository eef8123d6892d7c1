"""Reuses the results of clusters whose inputs have not changed: only edited specs go through the passes."""

from __future__ import annotations

import os
from typing import Any

from trainyard.disk.cache import Cache
from trainyard.disk.inputs import Record, digest, seen_before, unchanged
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.places import Route, SourceFile, Span
from trainyard.language.source.assemble import SpecSource
from trainyard.run.outcome import Compilation, Options

_PLAIN = ("label", "help", "key", "object", "subject", "secret")


class Repeats:
    """What earlier runs found in each cluster.

    ``shared``: a digest of what all clusters are judged by, policies and facts. ``compared``: whether their folders are
    compared with what they compile to.
    """

    def __init__(self, cache: Cache, options: Options, shared: str, *, compared: bool) -> None:
        self._cache = cache
        self._asked = [
            "cluster",
            cache.program,
            os.getcwd(),
            shared,
            compared,
            str(options.today),
            str(options.output),
            options.folder,
            options.hold,
            list(options.replace),
            str(options.against),
        ]

    def get(self, source: SpecSource) -> Compilation | None:
        """What a run before found, if it saw what is there now."""
        question = self._question(source)
        known = self._cache.get(question)
        if known is None:
            return None
        seen = unchanged(known["seen"])
        if seen is None:
            return None
        seen_before(seen)
        if seen != known["seen"]:
            self._cache.put(question, {**known, "seen": seen})
        done = Compilation(source.name, source.document, repeated=True)
        done.diagnostics = [_finding(words, source.files) for words in known["found"]]
        if known["current"] is not None:
            done.current = tuple(known["current"])
        return done

    def put(self, source: SpecSource, done: Compilation, record: Record, *, whole: bool) -> None:
        """Keep what was found. ``whole``: nothing is left to do for the cluster but to say it."""
        if not (whole and record.whole and done.judged):
            return
        found = [_words(finding, source.files) for finding in done.diagnostics]
        if None in found:
            return  # it is shown in a file that is none of the spec's
        answer = {"seen": record.items(), "found": found, "current": done.current}
        self._cache.put(self._question(source), answer)

    def _question(self, source: SpecSource) -> list[Any]:
        files = []
        for file in source.files:
            text = file.text.encode(errors="surrogatepass")
            files.append([file.name, digest(text)])
        return [*self._asked, source.name, source.path, files, source.parts, source.included]


def _words(finding: Diagnostic, files: tuple[SourceFile, ...]) -> dict[str, Any] | None:
    """A finding as JSON has it; ``None`` for one that is shown in a file that is none of the spec's."""
    if finding.also:
        return None
    places = [finding.span, *(span for span, _ in finding.related)]
    shown = [_place(span, files) if span is not None else [] for span in places]
    if None in shown:
        return None
    at = finding.at
    return {
        "code": finding.code,
        "severity": int(finding.severity),
        "message": finding.message,
        "at": list(at) if at is not None else None,
        "notes": list(finding.notes),
        "places": shown,
        "labels": [label for _, label in finding.related],
        **{name: getattr(finding, name) for name in _PLAIN},
    }


def _finding(words: dict[str, Any], files: tuple[SourceFile, ...]) -> Diagnostic:
    """The finding of such words."""
    span, *related = [_span(place, files) for place in words["places"]]
    places = [
        (place, label) for place, label in zip(related, words["labels"], strict=True) if place
    ]
    at = words["at"]
    return Diagnostic(
        words["code"],
        Severity(words["severity"]),
        words["message"],
        Route(at) if at is not None else None,
        span,
        notes=tuple(words["notes"]),
        related=tuple(places),
        **{name: words[name] for name in _PLAIN},
    )


def _place(span: Span, files: tuple[SourceFile, ...]) -> list[int] | None:
    for number, file in enumerate(files):
        if file is span.file:
            return [number, span.line, span.column, span.end_line, span.end_column]
    return None


def _span(place: list[int], files: tuple[SourceFile, ...]) -> Span | None:
    if not place:
        return None
    number, *rest = place
    return Span(files[number], *rest)
