"""``logs``: what the pods of a job print."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments

HELP = "print what the pods of a job log, each line with its rank"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("job", metavar="JOB", help="the job, by its name in the spec")
    arguments.one_spec(parser)
    parser.add_argument(
        "--rank",
        type=int,
        metavar="N",
        help="only the node of this number, from 0 on (default: all)",
    )
    parser.add_argument(
        "--previous", action="store_true", help="of the container before its last restart"
    )
    parser.add_argument(
        "--follow", action="store_true", help="as it comes, until it ends; of one rank"
    )
    parser.add_argument("--tail", type=int, metavar="N", help="the last N lines of each pod")
    arguments.asking(parser)
    arguments.committed(parser)
    arguments.rules_and_facts(parser)


def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.operate.asking import run_logs

    return run_logs(options)
