"""Templates of Helm, Jinja and the like, which are no YAML before they are rendered."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.diagnostic import warning
from compiler.source import SourceFile, Span

_HELM = "lint what it renders: `helm template … | trainyard lint -`"


def template(
    file: SourceFile,
    faults: Iterable[Diagnostic],
    mark: str = "{{",
    help: str = _HELM,
) -> Diagnostic | None:
    """The one thing to report of a template, at the first ``mark`` of its language."""
    lines = file.text.split("\n")
    places = [each.span.line for each in faults if each.span is not None]
    places += (
        [
            number
            for number, line in enumerate(lines, 1)
            if line.lstrip().startswith(mark)
        ]
        if places
        else []
    )
    for place in sorted(places):
        if column := lines[place - 1].find(mark) + 1:
            return warning(
                "LNT002",
                "a template, whose objects are not known before it is rendered",
                span=Span(file, place, column, place, column + len(mark)),
                help=help,
            )
    return None


def once(found: list[Diagnostic]) -> list[Diagnostic]:
    """One finding for all the templates of a folder."""
    folders: dict[str, list[Diagnostic]] = {}
    for each in found:
        if each.code == "LNT002" and each.span is not None:
            folders.setdefault(os.path.dirname(each.span.file.name), []).append(each)
    more = {id(first): len(rest) for first, *rest in folders.values()}
    return [
        replace(each, notes=(f"{more[id(each)]} more files of this folder are",))
        if more.get(id(each))
        else each
        for each in found
        if each.code != "LNT002" or id(each) in more
    ]
