"""``completion``: the script of a shell, or words that such a script asks for."""

from __future__ import annotations

import argparse

from trainyard.cli import arguments
from trainyard.cli.exits import CLEAN
from trainyard.cli.settings import command, run_options
from trainyard.cli.streams import UsageError, print_out, visible

SHELLS = ("bash", "zsh", "fish")
WORDS = ("codes", "objects", "types", "regions", "keys", "classes")

HELP = "print the completion script of a shell"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("shell", nargs="?", choices=SHELLS)
    parser.add_argument(
        "--words",
        nargs="+",
        choices=WORDS,
        metavar="LIST",
        help=f"print words instead, as the scripts ask for them: {', '.join(WORDS)}",
    )
    parser.add_argument(
        "--in",
        dest="paths",
        action="append",
        metavar="SPEC",
        help=f"specs whose objects are printed (default: {arguments.SPECS}/)",
    )
    arguments.rules_and_facts(parser)


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.cli.grammar import parser as grammar
    from trainyard.extensions.authoring.completion import script

    if options.words is not None:
        return _print_words(options)
    if options.shell is None:
        raise UsageError("for which shell? `trainyard completion bash`, zsh or fish")
    print_out(script(options.shell, grammar()))
    return CLEAN


def _print_words(options: argparse.Namespace) -> int:
    from trainyard.extensions.authoring.words import words

    options.paths = options.paths or ["specs"]
    settings = run_options(options, explained=True)
    for name in options.words:
        for word in words(name, options.paths, settings):
            print_out(f"{visible(word)}\n")
    return CLEAN
