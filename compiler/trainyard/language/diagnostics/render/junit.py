"""JUnit XML for CI servers: one test case a finding; errors fail, warnings and notes are output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from trainyard.language.diagnostics.diagnostic import Diagnostic, Severity
from trainyard.language.diagnostics.render.text import details

_ILLEGAL = re.compile(
    "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)  # XML 1.0, section 2.2


def render(diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False) -> str:
    """One suite; a run without findings has one case that passes, since servers take an empty suite for a fault.

    Whatever is not ASCII is a character reference, so that the text is what its first line says in every encoding.
    """
    cases = [_case(item) for item in diagnostics] or [
        '    <testcase classname="trainyard" name="no findings"/>\n'
    ]
    severities = [item.severity for item in diagnostics]
    failures = severities.count(Severity.ERROR)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="0"'
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {counts}>\n"
        f'  <testsuite name="trainyard" {counts}>\n'
        f'    <properties><property name="version" value={_attribute(tool_version)}/></properties>\n'
        f"{''.join(cases)}  </testsuite>\n</testsuites>\n"
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _case(item: Diagnostic) -> str:
    span = item.span
    where = str(item.at or item.object)
    file = ""
    if span is not None:
        where = str(span)
        name = _attribute(span.file.name)
        line = _attribute(str(span.line))
        file = f" file={name} line={line}"
    parts = [where, *details(item)]
    body = _text("\n".join(filter(None, parts)))
    code = _attribute(item.code)
    title = f"{item.code} {where}".strip()
    name = _attribute(title)
    if item.severity is Severity.ERROR:
        message = _attribute(item.message)
        inner = f"<failure type={code} message={message}>{body}</failure>"
    else:
        message = _text(f"{item.severity}: {item.message}")
        inner = f"<system-out>{message}\n{body}</system-out>"
    return f"    <testcase classname={code} name={name}{file}>{inner}</testcase>\n"


def _attribute(text: str) -> str:
    entities = {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
    return quoteattr(_ILLEGAL.sub("\ufffd", text), entities)


def _text(text: str) -> str:
    return escape(_ILLEGAL.sub("\ufffd", text), {"\r": "&#13;"})
