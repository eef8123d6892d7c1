"""``drift``: where the cluster differs from the committed output."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments

HELP = "compare the committed output with the cluster, and change nothing; exit 5 where they differ"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.one_spec(parser)
    arguments.asking(parser)
    arguments.tabled(parser)
    arguments.committed(parser)
    arguments.rules_and_facts(parser)


def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.operate.asking import run_drift

    return run_drift(options)
