"""``schema``: the JSON Schema of a kind, or of all."""

from __future__ import annotations

import argparse

from trainyard.cli.exits import CLEAN
from trainyard.cli.settings import command
from trainyard.cli.streams import UsageError, out

HELP = "print the JSON Schema of the spec, for editors"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "kind",
        nargs="?",
        default="TrainingCluster",
        metavar="KIND",
        help="TrainingCluster, TrainingClusterBase, the kind of a document of its own, like TrainingJob, or `all`: "
        "one schema for a folder that holds several kinds",
    )


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.run.language.schema import ALL, KINDS, schema_text

    if options.kind not in (*KINDS, ALL):
        raise UsageError(
            f"`{options.kind}` is no kind: write one of {', '.join(KINDS)}, or `{ALL}`"
        )
    out(schema_text(options.kind))
    return CLEAN
