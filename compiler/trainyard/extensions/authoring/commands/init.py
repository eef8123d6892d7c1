"""``init``: the first spec of a cluster; one with findings is not written."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.cli import arguments
from trainyard.cli.exits import CLEAN, FINDINGS, USAGE
from trainyard.cli.output import say
from trainyard.cli.settings import command, complain, run_options
from trainyard.cli.streams import print_err

if TYPE_CHECKING:
    from trainyard.run.outcome import Options

HELP = "write the first spec of a cluster, from a few answers; what no option says is asked for"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="where to write it (default: specs/NAME.yaml); an existing file is never replaced",
    )
    for flag, metavar, help in (
        ("--name", "NAME", "the cluster's name (default: lab)"),
        ("--account", "ID", "the AWS account, 12 digits"),
        ("--region", "REGION", "the Region (default: us-west-2)"),
        (
            "--type",
            "TYPE",
            "the instance type, or an accelerator like H100, whose largest type is taken (default: g6e.48xlarge)",
        ),
        ("--zone", "ZONE", "the zone of the nodes (default: the first with the type)"),
        ("--nodes", "N", "how many nodes there may be (default: 2)"),
        (
            "--buy",
            "HOW",
            "how they are bought: on-demand, spot, reserved or block (default: on-demand)",
        ),
        ("--reservation", "ID", "the capacity reservation or Capacity Block"),
        ("--starts", "TIME", "when the Capacity Block starts"),
        ("--ends", "TIME", "when the Capacity Block ends"),
        ("--team", "NAMESPACE", "the team's namespace, which gets a queue"),
        ("--git-url", "URL", "the git repository that Flux reads"),
        ("--api", "CIDR", "addresses from which people reach the Kubernetes API"),
    ):
        parser.add_argument(flag, metavar=metavar, help=help)
    parser.add_argument(
        "-y", "--yes", action="store_true", help="ask nothing: defaults for all that no option says"
    )
    arguments.rules_and_facts(parser)
    parser.set_defaults(fail_on="error")


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.catalog import load_catalog
    from trainyard.extensions.authoring.init import answers, path_of, spec, write

    catalog = load_catalog(options.catalog)
    if catalog.faults:
        complain(catalog.faults)
        return USAGE
    given = answers(options, catalog)
    path = path_of(options, given)
    options.paths = [os.fspath(path.absolute())]
    settings = run_options(options)
    text = spec(given, catalog, path)
    faults = _judged(text, path, settings)
    if faults:
        print_err(faults)
        say(options, "nothing was written")
        return FINDINGS
    write(path, text)
    say(options, f"{path}: written; now `trainyard check {path}`, `trainyard compile`")
    return CLEAN


def _judged(text: str, path: Path, settings: Options) -> str:
    """What is found in a spec that is not written yet, shown as if it were."""
    from tempfile import TemporaryDirectory

    from trainyard import __version__
    from trainyard.language.diagnostics.render import render
    from trainyard.run.driver import check

    with TemporaryDirectory() as folder:
        draft = Path(folder, path.name)
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        done = check([draft], settings)
        found = done.all()
        if not found:
            return ""
        shown = render("text", found, tool_version=__version__)
        return shown.replace(os.fspath(draft), os.fspath(path))
