"""The grammar of the command line: the commands of ``trainyard.cli.commands``, and the options of all."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import NoReturn, Protocol, cast

from trainyard import __version__
from trainyard.cli.streams import visible
from trainyard.plan.features import extension_modules
from trainyard.plan.shipped import COMMANDS, lacking

_OWN = ("compile", "check", "test", "explain")
"""In the order of the help; each is a module of ``trainyard.cli.commands``."""

EXIT_CODES = """exit codes:
  0  clean
  1  findings at or above the fail level
  2  wrong usage, or input or output that cannot be read or written
  3  the committed output is not what the spec compiles to (compile --check)
  4  a fault of Trainyard itself
  5  the cluster is not what the committed output says (drift)"""
RULES_ARE_CODE = """\
Rules in Python are code, as tests are, and run with your rights. They come from `policies/` of the working directory
or from --policies, never from what is read. CI runs those of a pull request, a fork's too, without secrets and with a
token that only reads. Rules in YAML (JSON Schema or CEL) need no trust."""


class Command(Protocol):
    """A module of ``trainyard.cli.commands``, or of the ``commands`` of an extension."""

    HELP: str

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add what the command takes."""

    def run(self, options: argparse.Namespace) -> int:
        """Run it; returns an exit code."""


class _Formatter(argparse.HelpFormatter):
    """As wide as the terminal. argparse makes one for each option, and would ask ``shutil`` for the width, which loads
    four libraries of compression: 2 % of a ``check``."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())


class _Verbatim(_Formatter, argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of descriptions as they are."""


_STDOUT = 1


@cache
def _width() -> int:
    """Columns of help, as argparse counts them: ``COLUMNS``, or the terminal's, or 80, less a margin of two."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal():
        columns = int(given)
    else:
        columns = 0
    if not columns:
        try:
            columns = os.get_terminal_size(_STDOUT).columns
        except OSError:
            columns = 80
    return (columns or 80) - 2


class _Parser(argparse.ArgumentParser):
    """Whose errors show words of the command line with everything visible."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))


def command_of(name: str) -> Command:
    """The command of a name."""
    return cast(Command, import_module(commands()[name]))


@cache
def commands() -> Mapping[str, str]:
    """The module of each command, by name: the kernel's, then those of extensions."""
    own = {name: f"trainyard.cli.commands.{name}" for name in _OWN}
    return own | extension_modules("commands")


def parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The grammar. ``completion`` and the documentation are made from it.

    ``words``: those of a run. Where they name a command, it is the only one that is loaded: all take longer than a
    run that repeats an earlier one.
    """
    top = _Parser(
        prog="trainyard",
        description="Compile training cluster specs into what Flux, eksctl and EKS need.",
        formatter_class=_Verbatim,
        epilog=f"{EXIT_CODES}\n\n{RULES_ARE_CODE}",
    )
    top.add_argument("--version", action="version", version=f"trainyard {__version__}")
    _common(top, default=False)
    # Without `prog`, argparse formats a usage for it, and loads four libraries of compression on its way.
    added = top.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="trainyard")
    for name in _named(words):
        command = command_of(name)
        first = command.HELP[0].upper()
        own = added.add_parser(
            name,
            help=command.HELP,
            description=f"{first}{command.HELP[1:]}.",
            formatter_class=_Formatter,
        )
        # Options before the command are not reset by the defaults of those after it.
        _common(own, default=argparse.SUPPRESS)
        command.declare(own)
    return top


def _named(words: Sequence[str] | None) -> Iterable[str]:
    """The command that the first of some words names, or all. Options before it have no values."""
    first = _first(words)
    return [first] if first in commands() else commands()


def absent(words: Sequence[str]) -> str | None:
    """What is wrong with words that name a command of an extension that is not there."""
    name = _first(words)
    if name in commands() or name not in COMMANDS:
        return None
    extension = COMMANDS[name]
    return f"`{name}` is a command of the extension `{extension}`, which is not there: {lacking(extension)}"


def _first(words: Sequence[str] | None) -> str:
    return next((word for word in words or () if word not in _FLAGS), "")


_FLAGS = ("--no-color", "-q", "--quiet", "-v", "--verbose")


def _common(parser: argparse.ArgumentParser, default: object) -> None:
    """The options that may be given before or after the command."""
    for flags, help in (
        (("--no-color",), "plain text (NO_COLOR does the same)"),
        (("-q", "--quiet"), "findings only, no progress and no summary"),
        (("-v", "--verbose"), "say more: every file, and where a fault arose"),
    ):
        parser.add_argument(*flags, action="store_true", default=default, help=help)
