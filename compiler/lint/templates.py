"""Templates of Helm, Jinja and the like, which are no YAML before they are rendered."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.diagnostic import error, warning
from compiler.places import SourceFile, Span

_HELM = "lint what it renders: `helm template … | trainyard lint -`"


def template(
    file: SourceFile, faults: Iterable[Diagnostic], mark: str = "{{", help: str = _HELM
) -> Diagnostic | None:
    """The one thing to report of a template, at the first ``mark`` of its language."""
    spans = [fault.span for fault in faults]
    numbers = {span.line for span in spans if span is not None}
    if not numbers:
        return None
    lines = file.text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(mark):
            numbers.add(number)
    for number in sorted(numbers):
        line = lines[number - 1]
        column = line.find(mark) + 1
        if column:
            end = column + len(mark)
            return warning(
                "LNT002",
                "a template, whose objects are not known before it is rendered",
                span=Span(file, number, column, number, end),
                help=help,
            )
    return None


_EXPRESSION = re.compile(r"\{\{(?P<inside>[^{}\n]*)\}\}")
_VALUE = re.compile(r"\s*\.?\w[\w.]*(?:\s*\|\s*\w+(?:\s+\"[^\"]*\")?)*\s*\Z")
_CONTROL = ("if", "else", "end", "range", "with", "define", "block", "template", "include")


_PROMPT = re.compile(r"(?:[\w.@:~/-]+)?[$%>❯] +\S")


def prompt(file: SourceFile) -> Diagnostic | None:
    """The finding on a first line that was pasted from a shell, with what the shell printed after it."""
    line = file.line(1)
    if _PROMPT.match(line) is None:
        return None
    end = len(line) + 1
    return error(
        "YML002",
        "a line of a shell, before what it printed",
        span=Span(file, 1, 1, 1, end),
        help="remove the line",
    )


def filled_in(text: str) -> str | None:
    """A template with a name of the same length in the place of each expression, so that it is YAML with the same
    places; nothing where it has more than values, as conditions and blocks are."""
    expressions = list(_EXPRESSION.finditer(text))
    if not expressions or len(expressions) != text.count("{{"):
        return None
    for expression in expressions:
        inside = expression["inside"]
        words = inside.split()
        is_value = _VALUE.match(inside) is not None
        if not is_value or words[0] in _CONTROL or _is_alone(text, expression):
            return None
    return _EXPRESSION.sub(_name, text)


def _is_alone(text: str, expression: re.Match[str]) -> bool:
    """Whether nothing else is on the line, as before a block of more lines."""
    start = text.rfind("\n", 0, expression.start()) + 1
    end = text.find("\n", expression.end())
    line = text[start:] if end < 0 else text[start:end]
    return line.strip() == expression.group()


def _name(expression: re.Match[str]) -> str:
    return "$" + "_" * (len(expression.group()) - 1)


def once(findings: list[Diagnostic]) -> list[Diagnostic]:
    """One finding for all the templates of a folder."""
    kept: list[Diagnostic] = []
    firsts: dict[str, int] = {}
    more: Counter[str] = Counter()
    for finding in findings:
        if finding.code == "LNT002":
            if finding.span is None:
                continue
            file = finding.span.file
            folder = os.path.dirname(file.name)
            if folder in firsts:
                more[folder] += 1
                continue
            firsts[folder] = len(kept)
        kept.append(finding)
    for folder, count in more.items():
        index = firsts[folder]
        notes = (f"{count} more files of this folder are",)
        kept[index] = replace(kept[index], notes=notes)
    return kept
