"""``fit``: memory, time and cost of each job's model; exit code 1 if one does not fit, or a spec is in error."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments
from trainyard.cli.exits import CLEAN, FINDINGS
from trainyard.cli.output import require_text_or_json
from trainyard.cli.settings import command, complain, run_options
from trainyard.cli.streams import print_out

HELP = "say whether the model of each job fits, how long it takes and what that costs, and what to change"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.specs(parser)
    parser.add_argument("--job", metavar="NAME", help="this job alone")
    parser.add_argument(
        "--why",
        metavar="PART",
        help="the formula of a part, by its number or name, with its numbers and source",
    )
    arguments.tabled(parser)
    arguments.facts(parser)


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.forecast.fit_shown import explained, fits, printed
    from trainyard.extensions.forecast.subjects import with_job

    require_text_or_json(options)
    settings = run_options(options, explained=True, judged=False)
    done = with_job(options.paths, settings, options.job)
    found = fits(done, settings, options.job)
    # What else is wrong with a spec is for `check`, unless nothing can be computed for it.
    unread = not done.compilations or any(each.plan is None for each in done.compilations)
    if unread:
        complain(done.errors())
    if options.why is not None:
        print_out(explained(found, options.why))
    elif found:
        print_out(printed(found, options.format))
    misfits = any(each.has_misfits for each in found)
    return FINDINGS if misfits or unread else CLEAN
