"""``test``: the examples of the adopter's own rules."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from trainyard.cli import arguments
from trainyard.cli.output import exit_code, formats, report_diagnostics, say
from trainyard.cli.settings import command
from trainyard.cli.streams import UsageError

HELP = "run the examples of your own policies"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "policies",
        nargs="?",
        type=Path,
        default=Path("policies"),
        metavar="DIR",
        help="folder with policies (default: policies/)",
    )
    parser.add_argument(
        "--format",
        action="append",
        metavar="FORMAT[=FILE]",
        dest="formats",
        help=f"{', '.join(arguments.FORMATS)}; into FILE if given (default: text)",
    )
    parser.set_defaults(fail_on="error")


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.judge.policy.config import Config
    from trainyard.judge.policy.load import load_rules
    from trainyard.run.examples import judged

    formats(options)
    if not options.policies.is_dir():
        raise UsageError(f"`{options.policies}` is not a folder with policies")
    builtin, _ = load_rules(None)
    builtin_codes = {rule.code for rule in builtin}
    rules, faults = load_rules(options.policies)
    own = [rule for rule in rules if rule.code not in builtin_codes]
    config = Config(today=date.today())
    diagnostics = [*faults, *judged(own, config)]
    report_diagnostics(options, diagnostics)
    examples = 0
    for rule in own:
        examples += len(rule.fails) + len(rule.passes)
    rules_run = "1 rule"
    if len(own) != 1:
        rules_run = f"{len(own)} rules"
    say(options, f"{rules_run} of your own, {examples} examples")
    return exit_code(options, diagnostics)
