"""The commands that print or rewrite, and compile nothing: each takes the parsed arguments and returns an exit code."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from compiler.cli.exits import CLEAN, FINDINGS, USAGE
from compiler.cli.output import say
from compiler.cli.streams import UsageError, out, visible

if TYPE_CHECKING:
    pass
from compiler.cli.settings import command, complain, run_options


@command
def run_explain(options: argparse.Namespace) -> int:
    """``explain``: a code's page, a key of the spec, or the derived values of an object."""
    from compiler.cli.explain import all_codes, explain_code, explain_object

    if options.key is not None:
        return _explain_key(options)
    if options.platforms:
        return _explain_platforms(options)
    options.paths = options.paths or ["specs"]
    settings = run_options(options, explained=True)
    if options.subject is None:
        _print_table(("code", "name", "what it finds"), all_codes(settings))
        return CLEAN
    text = explain_code(options.subject, settings)
    if text is None:
        if options.subject.startswith("spec."):
            raise UsageError(
                f"there is no code or object `{options.subject}`: "
                f"`trainyard explain --spec {options.subject}` explains a key of the spec"
            )
        text = explain_object(options.subject, options.field, options.paths, settings)
    out(visible(text))
    return CLEAN


def _explain_key(options: argparse.Namespace) -> int:
    from compiler.cli.keys import explain_key, key_rows

    if options.subject is not None:
        raise UsageError(
            f"`--spec {options.key}` and `{options.subject}` are two subjects: ask for one at a time"
        )
    if options.key:
        out(explain_key(options.key))
    else:
        _print_table(("key", "what it is"), key_rows())
    return CLEAN


def _explain_platforms(options: argparse.Namespace) -> int:
    from compiler.language.by_platform import keys_by_platform
    from compiler.platforms import PLATFORMS

    if options.subject is not None:
        raise UsageError(
            f"`--platforms` and `{options.subject}` are two subjects: ask for one at a time"
        )
    rows = [
        (
            key.path,
            *("no" if name in key.instead else "yes" for name in PLATFORMS),
            _why(key.instead),
        )
        for key in keys_by_platform()
    ]
    _print_table(("key", *PLATFORMS, "instead"), rows)
    return CLEAN


def _why(instead: Mapping[str, str]) -> str:
    """What to write instead of a key: the same for all platforms that do not take it, or by their names."""
    texts = list(dict.fromkeys(instead.values()))
    if len(texts) < 2:
        return "".join(texts)
    return "; ".join(f"{name}: {text}" for name, text in instead.items())


@command
def run_schema(options: argparse.Namespace) -> int:
    """``schema``: the JSON Schema of a kind, or of all."""
    from compiler.language.schema import ALL, KINDS, schema_text

    if options.kind not in (*KINDS, ALL):
        raise UsageError(
            f"`{options.kind}` is no kind: write one of {', '.join(KINDS)}, or `{ALL}`"
        )
    out(schema_text(options.kind))
    return CLEAN


@command
def run_catalog(options: argparse.Namespace) -> int:
    """``catalog``: list facts, list sources, or refresh."""
    from compiler.catalog import load_catalog
    from compiler.catalog.show import HEADER, rows, source_rows

    if options.words[:1] == ["refresh"]:
        return _refresh(options)
    catalog = load_catalog(options.catalog)
    if catalog.faults:
        complain(catalog.faults)
        return USAGE
    if options.words[:1] == ["sources"]:
        _print_table(("facts", "source", "version", "date"), source_rows(catalog))
        return CLEAN
    words = " ".join(options.words)
    listed = rows(catalog, words)
    if not listed:
        near = []
        if options.words:
            near = catalog.near(options.words[0])
        if near:
            hint = f": did you mean {near[0]}?"
        else:
            hint = ""
        raise UsageError(f"no type matches `{words}`{hint}")
    _print_table(HEADER, listed)
    return CLEAN


def _refresh(options: argparse.Namespace) -> int:
    from compiler.catalog.refresh import boto3_clients, caller_account, refresh
    from compiler.diagnostics import Diagnostic

    if not options.region:
        raise UsageError(
            "catalog refresh asks the EC2 API of regions: give at least one `--region`"
        )
    clients = boto3_clients()
    if isinstance(clients, Diagnostic):
        complain([clients])
        return USAGE
    patch = refresh(clients, options.region, date.today(), caller_account())
    if patch.faults:
        complain(patch.faults)
        return USAGE
    fault = patch.write(options.output)
    if fault is not None:
        complain([fault])
        return USAGE
    regions = ", ".join(patch.regions)
    say(options, f"{options.output}: {patch.types} types of {regions}; use it with `--catalog`")
    return CLEAN


def _print_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    table = [header, *rows]
    columns = zip(*table, strict=True)
    widths = [max(map(len, column)) for column in columns]
    for row in table:
        cells = map(str.ljust, row, widths)
        line = "  ".join(cells)
        out(f"{visible(line.rstrip())}\n")


@command
def run_fmt(options: argparse.Namespace) -> int:
    """``fmt``: former names of keys, reported or replaced."""
    from compiler.cli.fmt import fmt

    return fmt(options.paths, fix=options.fix)


@command
def run_drill(options: argparse.Namespace) -> int:
    """``drill``: a Job for ``kubectl apply -f -``, after comments on what must follow."""
    from compiler.cli.drill import text
    from compiler.diagnostics import Severity
    from compiler.driver import check

    done = check(options.paths, run_options(options), current=lambda _: None)
    diagnostics = done.all()
    faults = [fault for fault in diagnostics if fault.severity == Severity.ERROR]
    if faults:
        complain(faults)
        return FINDINGS
    compiled = [compilation.plan for compilation in done.compilations]
    plans = [plan for plan in compiled if plan is not None]
    out(text(plans, options.node, options.xid))
    return CLEAN


@command
def run_completion(options: argparse.Namespace) -> int:
    """``completion``: the script of a shell, or words that such a script asks for."""
    from compiler.cli.arguments import parser
    from compiler.cli.completion import script

    if options.words is not None:
        return _print_words(options)
    if options.shell is None:
        raise UsageError("for which shell? `trainyard completion bash`, zsh or fish")
    out(script(options.shell, parser()))
    return CLEAN


def _print_words(options: argparse.Namespace) -> int:
    from compiler.cli.words import words

    options.paths = options.paths or ["specs"]
    settings = run_options(options, explained=True)
    for name in options.words:
        for word in words(name, options.paths, settings):
            out(f"{visible(word)}\n")
    return CLEAN
