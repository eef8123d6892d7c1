"""``fmt``: former names of keys, reported or replaced."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments
from trainyard.cli.settings import command

HELP = "name the keys of specs that had another name before, or rename them"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "paths",
        nargs="*",
        default=[arguments.SPECS],
        metavar="SPEC",
        help=f"spec files or folders (default: {arguments.SPECS}/)",
    )
    parser.add_argument(
        "--fix", action="store_true", help="rename them in the files; comments and all else stay"
    )


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.authoring.fmt import fmt

    return fmt(options.paths, fix=options.fix)
