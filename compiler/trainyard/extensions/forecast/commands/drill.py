"""``drill``: a Job for ``kubectl apply -f -``, after comments on what must follow."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments
from trainyard.cli.exits import CLEAN, FINDINGS
from trainyard.cli.settings import command, complain, run_options
from trainyard.cli.streams import print_out

HELP = "print a Job that writes a fatal Xid to the log of a test node, and what must follow"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.specs(parser)
    parser.add_argument(
        "--node",
        required=True,
        metavar="NODE",
        help="the node, by its name in Kubernetes; one without a job",
    )
    parser.add_argument("--xid", type=int, metavar="N", help="the Xid (default: 79)")
    arguments.rules_and_facts(parser)
    parser.set_defaults(fail_on="error")


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.forecast.drill_shown import text
    from trainyard.run.driver import check

    done = check(options.paths, run_options(options), current=lambda _: None)
    faults = done.errors()
    if faults:
        complain(faults)
        return FINDINGS
    compiled = [compilation.plan for compilation in done.compilations]
    plans = [plan for plan in compiled if plan is not None]
    print_out(text(plans, options.node, options.xid))
    return CLEAN
