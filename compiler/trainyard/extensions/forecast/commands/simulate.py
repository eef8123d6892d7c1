"""``simulate``: what Kueue will do with the jobs of each cluster; exit code 1 if one never fits, or a spec is in
error."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from trainyard.cli import arguments
from trainyard.cli.exits import CLEAN, FINDINGS
from trainyard.cli.output import require_text_or_json
from trainyard.cli.settings import command, complain, run_options
from trainyard.cli.streams import UsageError, print_out

if TYPE_CHECKING:
    from trainyard.run.outcome import Options, Outcome

HELP = "say what Kueue will do with all jobs at once: which fit and where, which wait and for whom"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.specs(parser)
    parser.add_argument(
        "--nodes",
        action="append",
        default=[],
        metavar="POOL=N",
        help="as if a pool had N nodes at most; repeatable",
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="when each job starts and ends, what it waits for, and which nodes stand idle until then",
    )
    parser.add_argument(
        "--start",
        metavar="TIME",
        help="with --timeline: when it begins, like 2026-12-01T11:30:00Z (default: the first Capacity Block)",
    )
    arguments.committed(parser)
    arguments.tabled(parser)
    arguments.facts(parser)


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.forecast.simulate.verdict import Kind
    from trainyard.extensions.forecast.simulation_shown import forecasts, printed
    from trainyard.run.driver import check

    require_text_or_json(options)
    if options.start is not None and not options.timeline:
        raise UsageError("`--start` is for `--timeline`: write both")
    settings = run_options(options, explained=options.timeline, judged=False)
    done = check(options.paths, settings, current=lambda _: None)
    errors = done.errors()
    complain(errors)
    if options.timeline:
        return _timeline(options, settings, done, failed=bool(errors))
    found = forecasts(done, settings, options.nodes)
    if found or not errors:
        print_out(printed(found, options.format))
    never = any(each.verdicts_of(Kind.NEVER) for each in found)
    return FINDINGS if never or errors else CLEAN


def _timeline(
    options: argparse.Namespace, settings: Options, done: Outcome, *, failed: bool
) -> int:
    """Exit code 1 if a job never runs, or a spec is in error."""
    from trainyard.extensions.forecast.timeline_shown import printed, timelines

    found = timelines(done, settings, options.nodes, options.start)
    if found or not failed:
        print_out(printed(found, options.format))
    never = any(not course.attempts for each, _ in found for course in each.courses)
    return FINDINGS if never or failed else CLEAN
