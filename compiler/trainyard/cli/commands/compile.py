"""``compile``: check, then write every cluster's folder, or none."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.cli import arguments
from trainyard.cli.exits import CLEAN, FINDINGS, STALE
from trainyard.cli.output import SHOWN, exit_code, formats, report_diagnostics, say
from trainyard.cli.settings import command, run_options
from trainyard.disk import inputs
from trainyard.language.diagnostics.words import numbered

if TYPE_CHECKING:
    from trainyard.output.emit.tree import TreeDiff
    from trainyard.output.synthesis import Synthesis
    from trainyard.run.outcome import Compilation, Options, Outcome
    from trainyard.run.writer import Prepared

HELP = "check the specs and write what they compile to"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.specs(parser)
    arguments.judging(parser)
    arguments.committed(parser)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 3 if the output is not current"
    )


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.output.emit import MANIFEST
    from trainyard.output.synthesis import Synthesis

    formats(options)
    with Synthesis() as cdk8s:
        committed = inputs.with_file(options.output, MANIFEST)
        if not options.check and not committed:
            cdk8s.start()  # all will be new, so Node may start while the specs are read
        return _compile_all(options, cdk8s)


def _compile_all(options: argparse.Namespace, cdk8s: Synthesis) -> int:
    from trainyard.run.driver import check
    from trainyard.run.writer import current, orphans

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
    from trainyard.run.writer import prepare, write

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
    if len(ready) > 1 and not options.verbose:
        _leave_out_waiting(ready)
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


_WAITING = ("RES141",)
"""What is said of what somebody has to do next, until it is done."""


def _leave_out_waiting(ready: Iterable[tuple[Compilation, Prepared]]) -> None:
    """Say nothing again of clusters that this run does not change, beside one that it does."""
    if not any(prepared.changes.stale for _, prepared in ready):
        return
    for compilation, prepared in ready:
        if not prepared.changes.stale:
            said = compilation.diagnostics
            compilation.diagnostics = [each for each in said if each.code not in _WAITING]


def _lines(options: argparse.Namespace, written: list[tuple[Path, TreeDiff]]) -> list[str]:
    """A line for each cluster; of many only those that change, and how many are current."""
    all_shown = options.verbose or len(written) <= SHOWN
    changing = [(folder, changes) for folder, changes in written if changes.stale or changes.failed]
    if all_shown:
        shown = written
    else:
        shown = changing[:SHOWN]
    lines: list[str] = []
    for folder, changes in shown:
        lines += _changes(options, folder, changes)
    if all_shown:
        return lines
    more = len(changing) - len(shown)
    if more:
        lines.append(f"and {numbered(more, 'more cluster')}: `--verbose` lists them")
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
            shown = marked[:SHOWN]
        lines += shown
        if len(marked) > len(shown):
            hidden = len(marked) - len(shown)
            lines.append(f"  and {hidden} more: `--verbose` lists them")
    return lines
