"""The commands that judge and compile specs: each takes the parsed arguments and returns an exit code."""

from __future__ import annotations

import argparse
import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler import inputs
from compiler.cli.exits import CLEAN, FINDINGS, STALE, USAGE
from compiler.cli.output import (
    exit_code,
    formats,
    report_diagnostics,
    require_format,
    require_text_or_json,
    say,
)
from compiler.cli.streams import UsageError, err, out

if TYPE_CHECKING:
    from compiler.emit.tree import TreeDiff
    from compiler.outcome import Options, Outcome
    from compiler.synthesis import Synthesis
from compiler.cli.settings import command, complain, run_options

_SHOWN = 12  # paths of changed files that are listed without --verbose
_LEAST = 10_000  # bytes of a report with a limit: the lines of 50 clusters, and a link


@command
def run_init(options: argparse.Namespace) -> int:
    """``init``: the first spec of a cluster; one with findings is not written."""
    from compiler.catalog import load_catalog
    from compiler.cli.init import answers, path_of, spec, write

    given = answers(options)
    path = path_of(options, given)
    options.paths = [os.fspath(path.absolute())]
    settings = run_options(options)
    catalog = load_catalog(options.catalog)
    if catalog.faults:
        complain(catalog.faults)
        return USAGE
    text = spec(given, catalog, path)
    faults = _judged(text, path, settings)
    if faults:
        err(faults)
        say(options, "nothing was written")
        return FINDINGS
    write(path, text)
    say(options, f"{path}: written; now `trainyard check {path}`, `trainyard compile`")
    return CLEAN


def _judged(text: str, path: Path, settings: Options) -> str:
    """What is found in a spec that is not written yet, shown as if it were."""
    from tempfile import TemporaryDirectory

    from compiler import __version__
    from compiler.diagnostics.render import render
    from compiler.driver import check

    with TemporaryDirectory() as folder:
        draft = Path(folder, path.name)
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        done = check([draft], settings)
        found = done.all()
        if not found:
            return ""
        shown = render("text", found, tool_version=__version__)
        return shown.replace(os.fspath(draft), os.fspath(path))


@command
def run_check(options: argparse.Namespace) -> int:
    """``check``: every pass but writing, and what was committed if it is there."""
    from compiler.driver import check

    formats(options)
    done = check(options.paths, run_options(options))
    return _report(options, done)


def _report(options: argparse.Namespace, done: Outcome) -> int:
    diagnostics = done.all()
    report_diagnostics(options, diagnostics, excused=done.excused)
    if not diagnostics:
        names = [compilation.name for compilation in done.compilations]
        shown = ", ".join(names)
        if len(names) > _SHOWN and not options.verbose:
            shown = f"{len(names)} clusters"
        say(options, f"clean: {shown}" if names else "clean")
    return exit_code(options, diagnostics)


@command
def run_report(options: argparse.Namespace) -> int:
    """``report``: a report of each cluster for reviewers; exit code 1 if a spec is in error."""
    from compiler.cli.report import html, moved_text, text, why_text
    from compiler.driver import check
    from compiler.platforms import PLATFORMS

    platform = PLATFORMS.get(str(options.against))
    _require_form(options, moves=platform is not None)
    if platform is not None:
        options.against = None
    settings = run_options(options, explained=True)
    done = check(options.paths, settings, current=lambda _: None)
    if platform is not None:
        out(moved_text(done, settings, platform))
        return exit_code(options, done.all())
    if options.why is not None:
        found = why_text(done, settings, options.why)
        if not found and not done.failed:
            raise UsageError(f"`--why {options.why}`: no number of the report has these words")
        out(found)
    elif options.format == "html":
        out(html(done, settings))
    else:
        out(text(done, settings, options.limit, options.link))
    return exit_code(options, done.all())


def _require_form(options: argparse.Namespace, *, moves: bool) -> None:
    """Refuse a format and options of a report that do not go together."""
    require_format(options, "markdown", "html")
    if options.format == "html" and moves:
        raise UsageError("what a cluster is on another platform is Markdown: leave `--format` out")
    if options.why is not None and (options.format == "html" or options.limit or moves):
        raise UsageError("`--why` prints reasons alone: leave the other options out")
    if options.limit is None:
        return
    if options.format == "html":
        raise UsageError("`--limit` is for Markdown, which is cut to fit a comment: leave it out")
    if options.limit < _LEAST:
        raise UsageError(
            f"`--limit {options.limit}` is too short for a report: give at least {_LEAST} bytes"
        )


@command
def run_simulate(options: argparse.Namespace) -> int:
    """``simulate``: what Kueue will do with the jobs of each cluster; exit code 1 if one never fits, or a spec is in
    error."""
    from compiler.cli.simulate import forecasts, printed
    from compiler.diagnostics import Severity
    from compiler.driver import check
    from compiler.simulate.verdict import Kind

    require_text_or_json(options)
    if options.start is not None and not options.timeline:
        raise UsageError("`--start` is for `--timeline`: write both")
    settings = run_options(options, explained=options.timeline)
    done = check(options.paths, settings, current=lambda _: None)
    errors = [each for each in done.all() if each.severity is Severity.ERROR]
    complain(errors)
    if options.timeline:
        return _timeline(options, settings, done, failed=bool(errors))
    found = forecasts(done, settings, options.nodes)
    if found or not errors:
        out(printed(found, options.format))
    never = any(each.of(Kind.NEVER) for each in found)
    return FINDINGS if never or errors else CLEAN


def _timeline(
    options: argparse.Namespace, settings: Options, done: Outcome, *, failed: bool
) -> int:
    """Exit code 1 if a job never runs, or a spec is in error."""
    from compiler.cli.timeline import printed, timelines

    found = timelines(done, settings, options.nodes, options.start)
    if found or not failed:
        out(printed(found, options.format))
    never = any(not course.attempts for each, _ in found for course in each.courses)
    return FINDINGS if never or failed else CLEAN


@command
def run_fit(options: argparse.Namespace) -> int:
    """``fit``: memory, time and cost of each job's model; exit code 1 if one does not fit, or a spec is in error."""
    from compiler.cli.fit import explained, fits, printed
    from compiler.diagnostics import Severity
    from compiler.driver import check

    require_text_or_json(options)
    settings = run_options(options, explained=True)
    done = check(options.paths, settings, current=lambda _: None)
    found = fits(done, settings, options.job)
    # What else is wrong with a spec is for `check`, unless nothing can be computed for it.
    unread = not done.compilations or any(each.plan is None for each in done.compilations)
    if unread:
        complain([each for each in done.all() if each.severity is Severity.ERROR])
    if options.why is not None:
        out(explained(found, options.why))
    elif found:
        out(printed(found, options.format))
    misfits = any(each.has_misfits for each in found)
    return FINDINGS if misfits or unread else CLEAN


@command
def run_lint(options: argparse.Namespace) -> int:
    """``lint``: manifests that others wrote."""
    from compiler.linter import lint

    formats(options)
    done = lint(options.paths, run_options(options))
    diagnostics = done.all()
    report_diagnostics(options, diagnostics, excused=done.excused)
    for line in done.coverage.lines(findings=bool(diagnostics)):
        say(options, line)
    return exit_code(options, diagnostics)


@command
def run_compile(options: argparse.Namespace) -> int:
    """``compile``: check, then write every cluster's folder, or none."""
    from compiler.emit import MANIFEST
    from compiler.synthesis import Synthesis

    formats(options)
    with Synthesis() as cdk8s:
        committed = inputs.with_file(options.output, MANIFEST)
        if not options.check and not committed:
            cdk8s.start()  # all will be new, so Node may start while the specs are read
        return _compile_all(options, cdk8s)


def _compile_all(options: argparse.Namespace, cdk8s: Synthesis) -> int:
    from compiler.driver import check
    from compiler.writer import current, orphans

    settings = run_options(options)
    done = check(
        options.paths,
        settings,
        cdk8s.take if cdk8s.started else None,
        lambda compilation: current(compilation, settings),
    )
    # Where only files are named, not every spec was read.
    has_folder = any(map(inputs.is_folder, options.paths))
    if done.compilations and has_folder:
        done.diagnostics += orphans(done, settings, options.paths)
    code = exit_code(options, done.all())
    if done.failed or code != CLEAN:
        report_diagnostics(options, done.all(), excused=done.excused)
        say(options, "nothing was written")
        return code or FINDINGS
    return _write_all(options, done, settings, cdk8s)


def _write_all(
    options: argparse.Namespace, done: Outcome, settings: Options, cdk8s: Synthesis
) -> int:
    """Every folder is compared before the first is written, so an error of one keeps all from being written."""
    from compiler.writer import prepare, write

    ready = [
        (compilation, prepare(compilation, settings, cdk8s)) for compilation in done.compilations
    ]
    refused = any(prepared.changes.failed for _, prepared in ready)
    written: list[tuple[Path, TreeDiff]] = []
    for compilation, prepared in ready:
        changes = prepared.changes
        if not options.check and not refused:
            changes = write(compilation, prepared, settings, cdk8s)
        done.diagnostics += changes.diagnostics
        folder = settings.output / compilation.name
        written.append((folder, changes))
    report_diagnostics(options, done.all(), excused=done.excused)
    if refused:
        lines = ["nothing was written"]
    else:
        lines = _lines(options, written)
    for line in lines:
        say(options, line)
    differs = any(changes.stale for _, changes in written)
    stale = options.check and differs
    if stale and not refused:
        say(options, f"run `trainyard compile`, and commit `{settings.output}`")
    code = exit_code(options, done.all())
    if code != CLEAN:
        return code
    return STALE if stale else CLEAN


def _lines(options: argparse.Namespace, written: list[tuple[Path, TreeDiff]]) -> list[str]:
    """A line for each cluster; of many only those that change, and how many are current."""
    all_shown = options.verbose or len(written) <= _SHOWN
    changing = [(folder, changes) for folder, changes in written if changes.stale or changes.failed]
    if all_shown:
        shown = written
    else:
        shown = changing[:_SHOWN]
    lines: list[str] = []
    for folder, changes in shown:
        lines += _changes(options, folder, changes)
    if all_shown:
        return lines
    more = len(changing) - len(shown)
    if more:
        lines.append(f"and {more} more clusters: `--verbose` lists them")
    verb = "would change" if options.check else "changed"
    change = f"{len(changing)} {verb}"
    current = len(written) - len(changing)
    return [*lines, f"{len(written)} clusters: {change}, {current} current"]


def _changes(options: argparse.Namespace, folder: Path, changes: Any) -> list[str]:
    if changes.failed:
        return [f"{folder}: not written"]
    if not changes.stale:
        return [f"{folder}: current, {len(changes.unchanged)} files"]
    kinds = [
        ("+", "added", changes.added),
        ("~", "changed", changes.changed),
        ("-", "removed", changes.removed),
    ]
    counted = []
    for _, word, paths in kinds:
        if paths:
            counted.append(f"{len(paths)} {word}")
    counts = ", ".join(counted)
    verb = "not current: " if options.check else ""
    lines = [f"{folder}: {verb}{counts}"]
    if options.verbose or options.check:
        marked: list[str] = []
        for mark, _, paths in kinds:
            marked += [f"  {mark} {path}" for path in sorted(paths)]
        if options.verbose:
            shown = marked
        else:
            shown = marked[:_SHOWN]
        lines += shown
        if len(marked) > len(shown):
            hidden = len(marked) - len(shown)
            lines.append(f"  and {hidden} more: `--verbose` lists them")
    return lines


@command
def run_test(options: argparse.Namespace) -> int:
    """``test``: the examples of the adopter's own rules."""
    from compiler.examples import judged
    from compiler.policy.config import Config
    from compiler.policy.load import load_rules

    formats(options)
    if not options.policies.is_dir():
        raise UsageError(f"`{options.policies}` is not a folder with policies")
    builtin, _ = load_rules(None)
    builtin_codes = {rule.code for rule in builtin}
    rules, faults = load_rules(options.policies)
    own = [rule for rule in rules if rule.code not in builtin_codes]
    config = Config(today=date.today())
    diagnostics = [*faults, *judged(own, config)]
    report_diagnostics(options, diagnostics)
    examples = 0
    for rule in own:
        examples += len(rule.fails) + len(rule.passes)
    rules_run = "1 rule"
    if len(own) != 1:
        rules_run = f"{len(own)} rules"
    say(options, f"{rules_run} of your own, {examples} examples")
    return exit_code(options, diagnostics)
