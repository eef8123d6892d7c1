"""JUnit XML for CI servers: one test case a finding; errors fail, warnings and notes are output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from compiler.diagnostics.diagnostic import Diagnostic, Severity

_ILLEGAL = re.compile(
    "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)  # XML 1.0, section 2.2


def render(
    diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False
) -> str:
    """One suite; a run without findings has one case that passes, since servers take an empty suite for a fault.

    Whatever is not ASCII is a character reference, so that the text is what its first line says in every encoding.
    """
    cases = [_case(item) for item in diagnostics] or [
        '    <testcase classname="trainyard" name="no findings"/>\n'
    ]
    failures = sum(item.severity is Severity.ERROR for item in diagnostics)
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
    file = (
        f" file={_attribute(span.file.name)} line={_attribute(str(span.line))}"
        if span is not None
        else ""
    )
    where = str(span) if span is not None else str(item.at or item.object)
    body = "\n".join(
        part
        for part in (
            where,
            item.label,
            f"in {item.object}" if item.object else "",
            *(f"note: {note}" for note in item.notes),
            *(f"{place}: {label}" for place, label in item.related),
            f"help: {item.help}" if item.help else "",
        )
        if part
    )
    name = f"{item.code} {where}".strip()
    if item.severity is Severity.ERROR:
        inner = f"<failure type={_attribute(item.code)} message={_attribute(item.message)}>{_text(body)}</failure>"
    else:
        inner = f"<system-out>{_text(f'{item.severity}: {item.message}')}\n{_text(body)}</system-out>"
    return f"    <testcase classname={_attribute(item.code)} name={_attribute(name)}{file}>{inner}</testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(
        _ILLEGAL.sub("\ufffd", text), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
    )


def _text(text: str) -> str:
    return escape(_ILLEGAL.sub("\ufffd", text), {"\r": "&#13;"})
