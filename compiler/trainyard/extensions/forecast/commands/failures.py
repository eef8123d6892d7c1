"""``failures``: what becomes of each job when something fails; exit code 1 if a spec is in error."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments
from trainyard.cli.exits import CLEAN, FINDINGS
from trainyard.cli.output import require_text_or_json
from trainyard.cli.settings import command, complain, run_options
from trainyard.cli.streams import print_out

HELP = "say what becomes of each job when something fails: who acts, how long it takes, what is lost, also in a week"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.specs(parser)
    parser.add_argument("--job", metavar="NAME", help="this job alone")
    arguments.tabled(parser)
    arguments.facts(parser)


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.forecast.failures_shown import clusters, printed
    from trainyard.extensions.forecast.subjects import with_job

    require_text_or_json(options)
    settings = run_options(options, explained=True, judged=False)
    done = with_job(options.paths, settings, options.job)
    errors = done.errors()
    complain(errors)
    found = clusters(done, settings, options.job)
    if found or not errors:
        print_out(printed(found, options.format))
    return FINDINGS if errors else CLEAN
