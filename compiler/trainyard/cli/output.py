"""Printing: diagnostics in their formats, progress for people, and the exit code that follows."""

from __future__ import annotations

import argparse
import inspect
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trainyard import __version__
from trainyard.cli.arguments import FORMATS
from trainyard.cli.exits import CLEAN, FINDINGS, INTERNAL, USAGE
from trainyard.cli.streams import UsageError, has_colors, print_err, print_out, save, visible
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.pages import Page, load_pages
from trainyard.language.diagnostics.render import render, summary
from trainyard.language.diagnostics.words import numbered
from trainyard.language.source.read import is_yaml

# Input that cannot be read, and output that cannot be written: the run could not do its work.
_UNUSABLE = frozenset(
    (
        "CAT001",
        "CAT002",
        "LNT001",
        "OUT001",
        "OUT002",
        "OUT003",
        "OUT004",
        "OUT005",
        "YML016",
        "YML017",
        "YML019",
        "YML020",
        "YML021",
        "YML022",
        "YML023",
        "YML040",
    )
)
_OUR_FAULT = "INT"
SHOWN = 12
"""Clusters, or paths of changed files, that are listed without ``--verbose``."""


def require_text_or_json(options: argparse.Namespace) -> None:
    """Refuse any other ``--format`` of a command that prints no findings."""
    require_format(options, "text", "json")


def require_format(options: argparse.Namespace, *known: str) -> None:
    """Refuse a ``--format`` that the command does not have."""
    if options.format in known:
        return
    choice = " or ".join(known) if len(known) == 2 else f"one of {', '.join(known)}"
    raise UsageError(f"`{options.format}` is no format of `{options.command}`: write {choice}")


def as_json(values: Mapping[str, Any]) -> str:
    """Values as ``--format json`` prints them."""
    return f"{json.dumps(values, indent=2, ensure_ascii=False)}\n"


def formats(options: argparse.Namespace) -> list[tuple[str, Path | None]]:
    """The formats asked for, each with its file or ``None`` for standard output."""
    asked: list[tuple[str, Path | None]] = []
    for text in options.formats or ["text"]:
        name, into, file = text.partition("=")
        if name not in FORMATS:
            raise UsageError(f"`{name}` is no format: write one of {', '.join(FORMATS)}")
        if into and not file:
            raise UsageError(
                f"`{text}` names no file: write `{name}` for standard output, or `{name}=FILE`"
            )
        path = Path(file) if file else None
        asked.append((name, path))
    files = [path for _, path in asked if path is not None]
    for path in files:
        if files.count(path) > 1:
            raise UsageError(f"two formats go to `{path}`: give each a file of its own")
    for path in files:
        if is_yaml(path.name):
            raise UsageError(
                f"`{path}` may be a spec, and no format is YAML: name the report another way"
            )
    if len(asked) - len(files) > 1:
        raise UsageError(
            "only one format can go to standard output: give the others a file, like `sarif=out.sarif`"
        )
    return asked


def colored(options: argparse.Namespace) -> bool:
    """Whether to colour: at a terminal that can, unless ``--no-color`` or NO_COLOR (no-color.org) say otherwise."""
    return has_colors(options.no_color)


def report_diagnostics(
    options: argparse.Namespace, diagnostics: Sequence[Diagnostic], *, excused: int = 0
) -> None:
    """Print diagnostics in every format asked for, and a summary line for people."""
    for name, file in formats(options):
        more = {}
        if name == "sarif":
            more["pages"] = _pages(options.policies)
        text = render(
            name,
            diagnostics,
            tool_version=__version__,
            color=file is None and colored(options),
            **more,
        )
        if file is None:
            print_out(text)
        else:
            save(os.fspath(file), text)
    if diagnostics:
        parts = [summary(diagnostics)]
    else:
        parts = []
    if excused:
        parts.append(numbered(excused, "exception"))
    if parts:
        say(options, ", ".join(parts))


def _pages(policies: Path | None) -> dict[str, Page]:
    """The page of every code: the compiler's own, the built-in rules', the adopter's."""
    from trainyard.judge.policy.load import load_rules

    rules, _ = load_rules(policies)
    pages = dict(load_pages())
    for rule in rules:
        text = inspect.cleandoc(rule.doc)
        pages[rule.code] = Page(rule.code, rule.slug, text)
    return pages


def say(options: argparse.Namespace, text: str) -> None:
    """Progress and summaries go to standard error, after the findings, and nowhere with ``--quiet``."""
    if not options.quiet:
        print_err(f"{text}\n")


def exit_code(options: argparse.Namespace, diagnostics: Sequence[Diagnostic]) -> int:
    """4 for our own faults, 2 for unusable input or output, 1 for findings at the fail level, else 0."""
    errors = {
        diagnostic.code for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR
    }
    if any(diagnostic.code.startswith(_OUR_FAULT) for diagnostic in diagnostics):
        return INTERNAL
    if not errors.isdisjoint(_UNUSABLE):
        return USAGE
    if options.fail_on == "never":
        return CLEAN
    level = Severity[options.fail_on.upper()]
    fails = any(diagnostic.severity >= level for diagnostic in diagnostics)
    return FINDINGS if fails else CLEAN


def print_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows under a header, in columns as wide as their longest cell."""
    table = [header, *rows]
    columns = zip(*table, strict=True)
    widths = [max(map(len, column)) for column in columns]
    for row in table:
        cells = map(str.ljust, row, widths)
        line = "  ".join(cells)
        print_out(f"{visible(line.rstrip())}\n")
