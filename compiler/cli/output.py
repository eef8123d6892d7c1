"""Printing: diagnostics in their formats, progress for people, and the exit code that follows."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from compiler import __version__
from compiler.cli.arguments import FORMATS
from compiler.cli.exits import CLEAN, FINDINGS, USAGE
from compiler.cli.streams import UsageError, err, out
from compiler.diagnostics import Diagnostic, Severity
from compiler.diagnostics.pages import Page, load_pages
from compiler.diagnostics.render import render, summary
from compiler.source.read import is_yaml

# Input that cannot be read, and output that cannot be written: the run could not do its work.
_UNUSABLE = (
    frozenset(f"YML{number:03}" for number in (16, 17, 19, 20, 21, 22, 23, 40))
    | frozenset(f"OUT{number:03}" for number in (1, 2, 3, 4, 5))
    | {"CAT001", "CAT002", "LNT001"}
)
_FATAL = ("INT",)


def formats(options: argparse.Namespace) -> list[tuple[str, Path | None]]:
    """The formats asked for, each with its file or ``None`` for standard output."""
    found: list[tuple[str, Path | None]] = []
    for each in options.formats or ["text"]:
        name, into, file = each.partition("=")
        if name not in FORMATS:
            raise UsageError(
                f"`{name}` is no format: write one of {', '.join(FORMATS)}"
            )
        if into and not file:
            raise UsageError(
                f"`{each}` names no file: write `{name}` for standard output, or `{name}=FILE`"
            )
        found.append((name, Path(file) if file else None))
    files = [file for _, file in found if file is not None]
    if twice := next((file for file in files if files.count(file) > 1), None):
        raise UsageError(f"two formats go to `{twice}`: give each a file of its own")
    if own := next((file for file in files if is_yaml(file.name)), None):
        raise UsageError(
            f"`{own}` may be a spec, and no format is YAML: name the report another way"
        )
    if len(found) - len(files) > 1:
        raise UsageError(
            "only one format can go to standard output: give the others a file, like `sarif=out.sarif`"
        )
    return found


def colored(options: argparse.Namespace) -> bool:
    """Whether to colour: at a terminal that can, unless ``--no-color`` or NO_COLOR (no-color.org) say otherwise."""
    unwanted = (
        options.no_color
        or os.environ.get("NO_COLOR")
        or os.environ.get("TERM") == "dumb"
    )
    return not unwanted and sys.stdout.isatty()


def tell(
    options: argparse.Namespace, found: Sequence[Diagnostic], *, excused: int = 0
) -> None:
    """Print diagnostics in every format asked for, and a summary line for people."""
    for name, file in formats(options):
        more = {"pages": _pages(options.policies)} if name == "sarif" else {}
        text = render(
            name,
            found,
            tool_version=__version__,
            color=file is None and colored(options),
            **more,
        )
        if file is None:
            out(text)
        else:
            _save(file, text)
    if not options.quiet and (found or excused):
        exceptions = (
            f"{excused} exception{'s' if excused != 1 else ''}" if excused else ""
        )
        say(options, ", ".join(part for part in (summary(found), exceptions) if part))


def _pages(policies: Path | None) -> dict[str, Page]:
    """The page of every code: the compiler's own, the built-in rules', the adopter's."""
    from compiler.policy.load import load_rules

    rules, _ = load_rules(policies)
    return load_pages() | {
        rule.code: Page(rule.code, rule.slug, inspect.cleandoc(rule.doc))
        for rule in rules
    }


def _save(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as fault:
        raise UsageError(
            f"cannot write `{file}`: {(fault.strerror or str(fault)).lower()}"
        ) from None


def say(options: argparse.Namespace, text: str) -> None:
    """Progress and summaries go to standard error, after the findings, and nowhere with ``--quiet``."""
    if not options.quiet:
        err(f"{text}\n")


def exit_code(options: argparse.Namespace, found: Sequence[Diagnostic]) -> int:
    """4 for our own faults, 2 for unusable input or output, 1 for findings at the fail level, else 0."""
    if any(each.code.startswith(_FATAL) for each in found):
        return 4
    if any(
        each.code in _UNUSABLE and each.severity is Severity.ERROR for each in found
    ):
        return USAGE
    if options.fail_on == "never":
        return CLEAN
    return (
        FINDINGS
        if any(each.severity >= Severity[options.fail_on.upper()] for each in found)
        else CLEAN
    )
