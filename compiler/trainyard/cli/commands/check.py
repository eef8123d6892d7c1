"""``check``: every pass but writing, and what was committed if it is there."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from trainyard.cli import arguments
from trainyard.cli.output import SHOWN, exit_code, formats, report_diagnostics, say
from trainyard.cli.settings import command, run_options

if TYPE_CHECKING:
    from trainyard.run.outcome import Outcome

HELP = "check the specs, and what an edit means for what is committed"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.specs(parser)
    arguments.judging(parser)
    arguments.committed(parser)
    arguments.against(parser)


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.run.driver import check

    formats(options)
    done = check(options.paths, run_options(options))
    return _report(options, done)


def _report(options: argparse.Namespace, done: Outcome) -> int:
    diagnostics = done.all()
    report_diagnostics(options, diagnostics, excused=done.excused)
    if not diagnostics:
        names = [compilation.name for compilation in done.compilations]
        shown = ", ".join(names)
        if len(names) > SHOWN and not options.verbose:
            shown = f"{len(names)} clusters"
        say(options, f"clean: {shown}" if names else "clean")
    return exit_code(options, diagnostics)
