"""What every command does with its arguments: makes the settings of a run, and reports wrong usage in one line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from datetime import date
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.cli import repeat
from trainyard.cli.exits import USAGE
from trainyard.cli.streams import UsageError, print_err
from trainyard.disk import inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainyard.language.diagnostics import Diagnostic
    from trainyard.run.outcome import Options


def command(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Report wrong words, and a working directory that was removed, in one line."""

    @wraps(run)
    def reporting(options: argparse.Namespace) -> int:
        try:
            _require_working_directory()
            return run(options)
        except UsageError as fault:
            print_err(f"trainyard: {fault}\n")
            return USAGE

    return reporting


def _require_working_directory() -> None:
    """Paths are shown relative to the working directory, so there must be one."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError(
            "the working directory does not exist any more: change to one that does"
        ) from None


def run_options(
    options: argparse.Namespace, *, explained: bool = False, judged: bool = True
) -> Options:
    from trainyard.run.outcome import Options

    if judged:
        _find_policies(options)
    against = getattr(options, "against", None)
    if against is not None and not inputs.is_folder(against):
        raise UsageError(
            f"`--against {against}` is not a folder: give one with a folder for each cluster, like `generated`"
            f"{_or_a_platform(options)}"
        )
    output = getattr(options, "output", Path("generated"))
    return Options(
        policies=options.policies if judged else None,
        catalog=options.catalog,
        today=date.today(),
        output=output,
        folder=_in_repository(output),
        hold=hasattr(options, "replace"),
        replace=_replaced(options, output),
        against=against,
        explained=explained,
        judged=judged,
        cache=repeat.current.cache if repeat.current is not None else None,
    )


def _find_policies(options: argparse.Namespace) -> None:
    """The policies that apply: those that are named, or those of the folder in which the command is run."""
    folder = options.policies
    if folder is not None and not inputs.is_folder(folder):
        raise UsageError(f"`{folder}` is not a folder with policies")
    options.policies = folder or own_policies()
    if options.policies is None:
        _say_what_is_not_applied(options)


def _or_a_platform(options: argparse.Namespace) -> str:
    """What else ``report`` takes."""
    if options.command != "report":
        return ""
    from trainyard.run.platforms import PLATFORMS

    return f", or a platform: {', '.join(PLATFORMS)}"


def _replaced(options: argparse.Namespace, output: Path) -> tuple[str, ...]:
    """The jobs of ``--replace``; a name that no remembered run has is a slip."""
    names = tuple(getattr(options, "replace", ()))
    if not names:
        return ()
    from trainyard.language.diagnostics.near import name_meant
    from trainyard.output.emit import MANIFEST
    from trainyard.run.history.runs import FOLDER, read_runs
    from trainyard.run.platforms import PLATFORMS

    committed = getattr(options, "against", None) or output
    known: set[str] = set()
    for folder in inputs.with_file(committed, FOLDER):
        runs, _ = read_runs(Path(folder))
        for run in runs:
            known |= {run.job, run.object}
    for folder in inputs.with_file(committed, MANIFEST):
        for platform in PLATFORMS.values():
            own = platform.held()
            if own is not None:
                known |= own.submitted(Path(folder))
    for name in names:
        is_pattern = "*" in name or "?" in name
        if is_pattern or name in known:
            continue
        hint = name_meant(name, known)
        if hint:
            hint = f": {hint}"
        raise UsageError(f"`--replace {name}`: `{committed}` remembers no run of such a job{hint}")
    return names


def _in_repository(output: Path) -> str:
    """The output's path from the root of the repository that it is in, wherever the command is run: Flux reads there.
    Without a repository the working directory is taken for its root, and the default for what is outside of it."""
    written = os.path.abspath(output)
    root = _root_of(written)
    path = os.path.relpath(written, root)
    is_outside = path.startswith("..") or (root is None and path == ".")
    if is_outside:
        return "generated"
    return Path(path).as_posix()


def _root_of(folder: str) -> str | None:
    """The repository around a folder: the nearest one above with `.git`, which is a file in a worktree."""
    while True:
        mark = Path(folder, ".git")
        if inputs.is_folder(mark) or inputs.is_file(mark):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def own_policies() -> Path | None:
    """The ``policies/`` of the folder in which the command is run. Rules are code, so none is taken from anywhere
    else: not from next to what is read, nor from above it."""
    folder = Path("policies")
    return folder if inputs.is_folder(folder) else None


def _say_what_is_not_applied(options: argparse.Namespace) -> None:
    """A note on policies next to what is read that are not applied, though somebody may expect it."""
    from trainyard.judge.policy.load import SETTINGS

    for path in map(Path, options.paths):
        beside = (path if inputs.is_folder(path) else path.parent).absolute()
        for folder in (beside, beside.parent):
            policies = folder / "policies"
            settings = [policies / name for name in SETTINGS]
            if any(map(inputs.is_file, settings)):
                complain([_not_applied(policies)])
                return


def _not_applied(policies: Path) -> Diagnostic:
    from trainyard.language.diagnostics import Diagnostic, Severity

    shown = os.path.relpath(policies)
    return Diagnostic(
        "POL017",
        Severity.NOTE,
        f"`{shown}` is not applied: rules are code, and are taken from `policies/` of the folder in which this is run",
        help=f"run it in `{os.path.dirname(shown)}`; or write `--policies {shown}`, if you trust its authors",
    )


def complain(diagnostics: Iterable[Diagnostic]) -> None:
    from trainyard import __version__
    from trainyard.language.diagnostics.render import render

    print_err(render("text", list(diagnostics), tool_version=__version__))
