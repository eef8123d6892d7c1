"""``catalog``: list facts, list sources, or refresh."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from trainyard.cli.exits import CLEAN, USAGE
from trainyard.cli.output import print_table, say
from trainyard.cli.settings import command, complain
from trainyard.cli.streams import UsageError

HELP = "list the facts, or refresh them from the EC2 API"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="`refresh`, `sources`, or what to list: a type, an accelerator, a zone, efa, block, spot, amx, arm64, "
        "amd64",
    )
    parser.add_argument(
        "--region", action="append", metavar="REGION", help="refresh: regions to ask"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("catalog.json"),
        metavar="FILE",
        help="refresh: where to write (default: catalog.json)",
    )
    parser.add_argument(
        "--catalog", type=Path, metavar="FILE", help="facts from `trainyard catalog refresh`"
    )


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.catalog import load_catalog
    from trainyard.extensions.facts.show import HEADER, rows, source_rows

    if options.words[:1] == ["refresh"]:
        return _refresh(options)
    catalog = load_catalog(options.catalog)
    if catalog.faults:
        complain(catalog.faults)
        return USAGE
    if options.words[:1] == ["sources"]:
        print_table(("facts", "source", "version", "date"), source_rows(catalog))
        return CLEAN
    words = " ".join(options.words)
    listed = rows(catalog, words)
    if not listed:
        near = catalog.near(options.words[0])
        hint = f": did you mean {near[0]}?" if near else ""
        raise UsageError(f"no type matches `{words}`{hint}")
    print_table(HEADER, listed)
    return CLEAN


def _refresh(options: argparse.Namespace) -> int:
    from trainyard.extensions.facts.refresh import boto3_clients, caller_account, refresh
    from trainyard.language.diagnostics import Diagnostic

    if not options.region:
        raise UsageError(
            "catalog refresh asks the EC2 API of regions: give at least one `--region`"
        )
    clients = boto3_clients()
    if isinstance(clients, Diagnostic):
        complain([clients])
        return USAGE
    patch = refresh(clients, options.region, date.today(), caller_account())
    if patch.faults:
        complain(patch.faults)
        return USAGE
    fault = patch.write(options.output)
    if fault is not None:
        complain([fault])
        return USAGE
    regions = ", ".join(patch.regions)
    say(options, f"{options.output}: {patch.types} types of {regions}; use it with `--catalog`")
    return CLEAN
