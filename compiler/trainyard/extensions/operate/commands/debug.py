"""``debug``: a pod like those of a job, which only sleeps."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments

HELP = "make a pod like those of a job that only sleeps, and say how to get into it"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("job", metavar="JOB", help="the job, by its name in the spec")
    arguments.one_spec(parser)
    parser.add_argument(
        "--gpus",
        type=int,
        default=0,
        metavar="N",
        help="with N GPUs, or Neuron devices, from the job's queue (default: none)",
    )
    parser.add_argument(
        "--minutes", type=int, default=60, metavar="N", help="it ends after N minutes (default: 60)"
    )
    parser.add_argument(
        "--print", action="store_true", dest="printed", help="print it, and make nothing"
    )
    arguments.asking(parser)
    arguments.committed(parser)
    arguments.rules_and_facts(parser)


def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.operate.asking import run_debug

    return run_debug(options)
