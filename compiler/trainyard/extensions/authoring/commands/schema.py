"""``schema``: the JSON Schema of the language."""

from __future__ import annotations

import argparse

from trainyard.cli.exits import CLEAN
from trainyard.cli.settings import command
from trainyard.cli.streams import print_out

HELP = "print the JSON Schema of the spec, for editors"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.authoring.schema import schema_text

    print_out(schema_text())
    return CLEAN
