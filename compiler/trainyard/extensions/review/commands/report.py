"""``report``: a report of each cluster for reviewers; exit code 1 if a spec is in error."""

from __future__ import annotations

import argparse
from pathlib import Path

from trainyard.cli import arguments
from trainyard.cli.output import exit_code, require_format
from trainyard.cli.settings import command, complain, run_options
from trainyard.cli.streams import UsageError, print_out

_LEAST = 10_000
"""Bytes of a report with a limit: the lines of 50 clusters, and a link."""

HELP = "print a report of each cluster for reviewers, in Markdown or HTML"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.specs(parser)
    arguments.committed(parser)
    parser.add_argument(
        "--against",
        type=Path,
        metavar="DIR|PLATFORM",
        help="committed output to compare with, like that of another branch (default: the output), "
        "or a platform to go to, like parallelCluster",
    )
    parser.add_argument(
        "--format",
        default="markdown",
        metavar="FORMAT",
        help="markdown; html: one file that loads nothing; json: what it costs (default: markdown)",
    )
    parser.add_argument(
        "--why",
        metavar="WORDS",
        help="print what numbers of the report are made of, and why values are derived, by words of their names",
    )
    arguments.limited(parser)
    arguments.rules_and_facts(parser)
    parser.set_defaults(fail_on="error")


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.review.report_written import (
        html,
        json_text,
        moved_text,
        text,
        why_text,
    )
    from trainyard.run.driver import check
    from trainyard.run.platforms import PLATFORMS

    platform = PLATFORMS.get(str(options.against))
    _require_form(options, moves=platform is not None)
    if platform is not None:
        options.against = None
    settings = run_options(options, explained=True)
    done = check(options.paths, settings, current=lambda _: None)
    if platform is not None:
        print_out(moved_text(done, settings, platform))
        return exit_code(options, done.all())
    if options.why is not None:
        found = why_text(done, settings, options.why)
        if not found and not done.failed:
            raise UsageError(f"`--why {options.why}`: no number of the report has these words")
        complain(done.errors())
        print_out(found)
    elif options.format == "html":
        print_out(html(done, settings))
    elif options.format == "json":
        complain(done.errors())
        print_out(json_text(done, settings))
    else:
        print_out(text(done, settings, options.limit, options.link))
    return exit_code(options, done.all())


def _require_form(options: argparse.Namespace, *, moves: bool) -> None:
    """Refuse a format and options of a report that do not go together."""
    require_format(options, "markdown", "html", "json")
    if options.format != "markdown" and moves:
        raise UsageError("what a cluster is on another platform is Markdown: leave `--format` out")
    if options.why is not None and (options.format != "markdown" or options.limit or moves):
        raise UsageError("`--why` prints reasons alone: leave the other options out")
    if options.limit is None:
        return
    if options.format != "markdown":
        raise UsageError("`--limit` is for Markdown, which is cut to fit a comment: leave it out")
    if options.limit < _LEAST:
        raise UsageError(
            f"`--limit {options.limit}` is too short for a report: give at least {_LEAST} bytes"
        )
