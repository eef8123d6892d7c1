"""The page of a rule as people read it: its docstring, with what is said of each example that fails."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from trainyard.judge.policy.config import Config
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.render.text import details
from trainyard.language.places import Route
from trainyard.run.examples.rehearse import UnusableExampleError, config_for, findings_at_keys

DAY = date(2026, 11, 21)
"""The day of all pages: what has ended by then is in the examples."""
_EXAMPLE = "    "


def page(rule: Rule, *, fence: str = "") -> str:
    """The page; what is said is between two lines ``fence``, if there is one."""
    return "\n".join(_lines(rule, fence))


def _lines(rule: Rule, fence: str) -> Iterator[str]:
    examples = iter(rule.fails)
    lines = inspect.cleandoc(rule.doc).splitlines()
    is_failing = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        yield line
        if line.startswith("## "):
            is_failing = line == "## Fails"
        is_last = line.startswith(_EXAMPLE) and not following
        if is_failing and is_last:
            yield from _said(rule, next(examples), fence)


def _said(rule: Rule, example: str, fence: str) -> Iterator[str]:
    found = said(rule, example)
    if not found:
        return
    yield ""
    if fence:
        yield f"{fence}text"
    for finding in found:
        yield from _words(finding)
    if fence:
        yield fence


def said(rule: Rule, example: str) -> list[Diagnostic]:
    """What a rule says of an example, at the keys of a spec where it is a part of one; nothing of one that cannot be
    judged, which ``trainyard test`` reports."""
    try:
        config = config_for(rule, example, Config(today=DAY))
        found = findings_at_keys(example, (rule,), config)
    except UnusableExampleError:
        return []
    return [finding for finding in found if finding.code == rule.code]


def _words(finding: Diagnostic) -> Iterator[str]:
    """A finding without a file: its fact, its place, and all that is known beside it."""
    yield f"{finding.severity}[{finding.code}]: {finding.message}"
    if finding.at:
        yield f"  at {_place(finding.at)}"
    for line in details(replace(finding, object="")):
        yield "\n".join(f"  {part}" for part in line.split("\n"))
    for place, label in finding.also:
        yield f"  {_place(place)}: {label}"


def _place(at: Route) -> str:
    """A key of a spec, or a field of what is named before it: a third party's object, or the file of one example."""
    first, *rest = at
    if not str(first).startswith("@"):
        return str(at)
    name = str(first).removeprefix("@").rstrip("/")
    return f"{Route(tuple(rest))} of {name}" if rest else name
