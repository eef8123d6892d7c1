"""``plan``: what a merge will do; exit code 1 if a spec is in error."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments

HELP = "say what a merge will do, against a revision of git: by object and field, the worst first"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    arguments.specs(parser)
    parser.add_argument(
        "--base",
        metavar="REF",
        help="the revision to compare with (default: the merge base of HEAD and the remote's default branch)",
    )
    parser.add_argument(
        "--format", default="text", metavar="FORMAT", help="text, markdown, json (default: text)"
    )
    parser.add_argument(
        "--detailed-exitcode",
        action="store_true",
        help="0 without changes, 1 after an error, 2 with changes, as Terraform has it",
    )
    arguments.committed(parser)
    arguments.rules_and_facts(parser)
    parser.set_defaults(fail_on="error")


def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.extensions.review.plan import run_plan

    return run_plan(options)
