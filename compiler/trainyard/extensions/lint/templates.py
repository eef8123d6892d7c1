"""Templates of Helm, Jinja and the like, which are not YAML until they are rendered."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error, warning
from trainyard.language.diagnostics.words import numbered
from trainyard.language.places import SourceFile, Span

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
                at=Span(file, number, column, number, end),
                help=help,
            )
    return None


_EXPRESSION = r"\{\{(?P<inside>[^{}\n]*)\}\}"
_VALUE = r"\s*\.?\w[\w.]*(?:\s*\|\s*\w+(?:\s+\"[^\"]*\")?)*\s*\Z"
_CONTROL = ("if", "else", "end", "range", "with", "define", "block", "template", "include")


_PROMPT = r"(?:[\w.@:~/-]+)?[$%>❯] +\S"


def prompt(file: SourceFile) -> Diagnostic | None:
    """The finding on a first line that was pasted from a shell, with what the shell printed after it."""
    line = file.line(1)
    if re.match(_PROMPT, line) is None:
        return None
    end = len(line) + 1
    return error(
        "YML002",
        "a line of a shell, before what it printed",
        at=Span(file, 1, 1, 1, end),
        help="remove the line",
    )


def filled_in(text: str) -> str | None:
    """A template with a name of the same length in the place of each expression, so that it is YAML with the same
    places; nothing where it has more than values, as conditions and blocks are."""
    expressions = list(re.finditer(_EXPRESSION, text))
    if not expressions or len(expressions) != text.count("{{"):
        return None
    for expression in expressions:
        if not _is_value(expression["inside"]) or _is_alone(text, expression):
            return None
    return re.sub(_EXPRESSION + r"(?P<last>$)?", _name, text, flags=re.MULTILINE)


def _is_value(inside: str) -> bool:
    """Whether an expression of a template is one value, and no condition or block."""
    return re.match(_VALUE, inside) is not None and inside.split()[0] not in _CONTROL


_QUOTED_OR_VARIABLE = r"""\"(?:[^"\\]|\\.)*\"|'[^']*'|(?P<variable>\$\{(?P<name>[^{}\n]*)\})"""
_ALONE = r"\s*(?P<name>\$\{[^{}\n]+\}|\$[A-Za-z_]\w*|<[A-Za-z][\w. -]*>|\{\{[^{}\n]+\}\})\s*\Z"
_ITEM = r"(?P<before>\s*)(?P<dashes>(?:-\s+)+)"


def variables_filled_in(text: str) -> Iterator[tuple[str, list[str]]]:
    """A text that is no YAML before its variables have a value, with something in their places, so that each other
    value keeps its place; and what is left out of it. There may be several ways: the first that is YAML is meant.

    A variable alone on a line stands for lines of the mapping or list that it is in: it becomes a key or an item there,
    which is a placeholder as any other, or a comment where that is no YAML. One in a flow mapping, where `{` begins
    another mapping, becomes a name of the same length.
    """
    lines = [_in_flow(line) for line in text.split("\n")]
    alone = {}
    for number, line in enumerate(lines):
        match = re.match(_ALONE, line)
        if match is not None:
            alone[number] = match["name"]
    if any(name.startswith("{{") and not _is_value(name[2:-2]) for name in alone.values()):
        return
    if not alone:
        filled = "\n".join(lines)
        if filled != text:
            yield filled, []
        return
    yield "\n".join(_with_places(lines, alone)), []
    left_out = ("#" if number in alone else line for number, line in enumerate(lines))
    yield "\n".join(left_out), list(alone.values())


def _with_places(lines: Sequence[str], alone: Mapping[int, str]) -> Iterator[str]:
    """The lines, with a unique key or item in place of each variable that is replaced by several lines."""
    above = ""
    times: Counter[str] = Counter()
    for number, line in enumerate(lines):
        shown = line
        if number in alone:
            name = alone[number]
            times[name] += 1
            shown = _within(above, line, name, times[name])
        if shown.strip():
            above = shown
        yield shown


def _in_flow(line: str) -> str:
    """A line with a name for each variable that is not quoted, where braces or brackets are mappings and lists."""
    if "${" not in line:
        return line
    bare = re.sub(_QUOTED_OR_VARIABLE, "", line)
    if not any(mark in bare for mark in "{}[]") and not bare.rstrip().endswith(","):
        return line
    return re.sub(_QUOTED_OR_VARIABLE, _variable, line)


def _variable(found: re.Match[str]) -> str:
    if found["variable"] is None:
        return found.group()
    name = re.split(r"\W", found["name"])[0]
    return f"${name}".ljust(len(found.group()), "_")


def _within(above: str, own: str, name: str, time: int) -> str:
    """The line for a variable that is replaced by several lines: a key or an item, as the line above requires."""
    value = json.dumps(name)
    column = len(own) - len(own.lstrip())
    item = re.match(_ITEM, above)
    if item is not None and (not column or column == len(item["before"])):
        return f"{item['before']}- {value}"
    if not column:
        column = len(above) - len(above.lstrip())
        if above.rstrip().endswith(":"):
            column += 2
    key = value if time == 1 else json.dumps(f"{name}.{time}")
    return f"{' ' * column}{key}: {value}"


def _is_alone(text: str, expression: re.Match[str]) -> bool:
    """Whether nothing else is on the line, as before a block of more lines."""
    start = text.rfind("\n", 0, expression.start()) + 1
    end = text.find("\n", expression.end())
    line = text[start:] if end < 0 else text[start:end]
    return line.strip() == expression.group()


def _name(expression: re.Match[str]) -> str:
    """A variable with the words of an expression: spaces at the end of a line belong to no value."""
    words = re.findall(r"\w+", expression["inside"])
    padding = "_" if expression["last"] is None else " "
    return f"${'_'.join(words)}".ljust(len(expression.group()), padding)


def once(findings: list[Diagnostic]) -> list[Diagnostic]:
    """One finding for all the templates of a folder."""
    kept: list[Diagnostic] = []
    firsts: dict[str, int] = {}
    more: Counter[str] = Counter()
    for finding in findings:
        if finding.code == "LNT002":
            assert finding.span is not None
            file = finding.span.file
            folder = os.path.dirname(file.name)
            if folder in firsts:
                more[folder] += 1
                continue
            firsts[folder] = len(kept)
        kept.append(finding)
    for folder, count in more.items():
        index = firsts[folder]
        notes = (numbered(count, "more file of this folder is", "more files of this folder are"),)
        kept[index] = replace(kept[index], notes=notes)
    return kept
