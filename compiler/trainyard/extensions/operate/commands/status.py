"""``status``: how the jobs of a spec are."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments

HELP = "say how the jobs of a spec are in the cluster: state, place in the queue and why, attempts, cost so far"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.one_spec(parser)
    arguments.asking(parser)
    arguments.tabled(parser)
    arguments.committed(parser)
    arguments.rules_and_facts(parser)


def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.operate.asking import run_status

    return run_status(options)
