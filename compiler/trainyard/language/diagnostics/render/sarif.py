"""SARIF 2.1.0 for code scanning (OASIS standard; GitHub's limits in "SARIF support for code scanning").

Columns count Unicode code points. Fingerprints hold code, file, text of the line and message, so
that a finding keeps its identity when lines above it come and go.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from trainyard.language.diagnostics.diagnostic import Diagnostic
from trainyard.language.diagnostics.pages import Page, load_pages
from trainyard.language.diagnostics.words import numbered
from trainyard.language.places import Span

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

MAX_RESULTS = 25_000
"""Most results of a run: GitHub refuses a file with more (docs.github.com, "SARIF support for code scanning")."""

# Characters of a line that go into a fingerprint: a file may be one line with a fault in each word.
_LINE = 4096


def render(
    diagnostics: Sequence[Diagnostic],
    *,
    tool_version: str,
    color: bool = False,
    pages: Mapping[str, Page] | None = None,
) -> str:
    """One run. ``pages`` gives help texts of codes; default: the compiler's own."""
    known = load_pages() if pages is None else pages
    worst = _worst(diagnostics)
    codes = sorted({item.code for item in worst})
    indices = {code: index for index, code in enumerate(codes)}
    driver = {
        "name": "trainyard",
        "version": tool_version,
        "rules": [_rule(code, known.get(code)) for code in codes],
    }
    seen: Counter[str] = Counter()
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
    more = len(diagnostics) - len(worst)
    if more:
        left = numbered(more, "more finding is", "more findings are")
        text = f"{left} not in this file: it has the {MAX_RESULTS} that GitHub takes, errors first"
        notes = [{"level": "warning", "message": {"text": text}}]
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notes}]
    results = []
    for item in worst:
        index = indices[item.code]
        results.append(_result(item, index, seen))
    run["results"] = results
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _worst(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """As many as a run may have, errors before warnings before notes, in the order of their places."""
    if len(diagnostics) <= MAX_RESULTS:
        return diagnostics
    worst_first = sorted(diagnostics, key=lambda item: item.severity, reverse=True)
    chosen = set(map(id, worst_first[:MAX_RESULTS]))
    return [item for item in diagnostics if id(item) in chosen]


def _rule(code: str, page: Page | None) -> dict[str, Any]:
    if page is None:
        return {"id": code, "shortDescription": {"text": code}}
    words = page.slug.split("-")
    title = {"text": page.title or " ".join(words)}
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in words),
        "shortDescription": title,
        "fullDescription": title,  # GitHub asks for both
        "help": {"text": page.text, "markdown": page.text},
    }


def _result(item: Diagnostic, rule: int, seen: Counter[str]) -> dict[str, Any]:
    if item.object:
        inside = f"in {item.object}"
    else:
        inside = ""
    parts = [
        item.message,
        item.label,
        inside,
        *item.notes,
        f"help: {item.help}" if item.help else "",
    ]
    result: dict[str, Any] = {
        "ruleId": item.code,
        "ruleIndex": rule,
        "level": str(item.severity),
        "message": {"text": "\n".join(part for part in parts if part)},
        "partialFingerprints": {"trainyard/v1": _fingerprint(item, seen)},
    }
    location = _location(item)
    if location:
        result["locations"] = [location]
    if item.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": _physical(span),
                "message": {"text": label or "related"},
            }
            for number, (span, label) in enumerate(item.related, 1)
        ]
    return result


def _location(item: Diagnostic) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if item.span is not None:
        location["physicalLocation"] = _physical(item.span)
    name = str(item.at or item.object)
    if name:
        location["logicalLocations"] = [{"fullyQualifiedName": name}]
    return location


def _physical(span: Span) -> dict[str, Any]:
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {
        "artifactLocation": {"uri": quote(os.fsencode(span.file.name), safe="/~")},
        "region": region,
    }


def _fingerprint(item: Diagnostic, seen: Counter[str]) -> str:
    """Hex; equal findings on equal lines are numbered in the order of the file."""
    file = ""
    line = ""
    if item.span is not None:
        source = item.span.file
        file = source.name
        start = source.line(item.span.line)[:_LINE]
        words = start.split()
        line = " ".join(words)
    text = "\0".join([item.code, file, line, item.message, item.object])
    data = text.encode("utf-8", "surrogatepass")
    digest = sha256(data).hexdigest()[:32]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"
