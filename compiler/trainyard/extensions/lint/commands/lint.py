"""``lint``: manifests that others wrote."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments
from trainyard.cli.output import exit_code, formats, report_diagnostics, say
from trainyard.cli.settings import command, run_options

HELP = "judge files of Kubernetes, eksctl and CloudFormation that others wrote"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="files or folders; `-` is standard input"
    )
    arguments.judging(parser)


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.lint.linter import lint

    formats(options)
    done = lint(options.paths, run_options(options))
    diagnostics = done.all()
    report_diagnostics(options, diagnostics, excused=done.excused)
    for line in done.coverage.lines(findings=bool(diagnostics)):
        say(options, line)
    return exit_code(options, diagnostics)
