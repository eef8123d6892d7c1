"""Splits a line of shell into statements, as far as that is possible without running it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from compiler.model.command import program, runs_shell
from compiler.shellwords import split

_BLOCKS = frozenset({"if", "for", "while", "until", "case", "function", "trap", "{", "("})
_PIPES = frozenset({"|", "|&"})
_SEPARATORS = frozenset({";", "&", "&&", "||"}) | _PIPES
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BEFORE = frozenset({"exec", "time", "env", "nohup", "nice", "command"})
_REDIRECTED = re.compile(r"\d*[<>]&\d+|&>>?")
_CONTINUED = re.compile(r"\\\s*\n")


class Statement(NamedTuple):
    """A simple command: its words, and the separator behind it (``;`` at the end of a line)."""

    words: tuple[str, ...]
    separator: str

    @property
    def command(self) -> tuple[str, ...]:
        """The program with its words, without what stands before it."""
        for index, word in enumerate(self.words):
            if not _ASSIGNMENT.match(word) and word not in _BEFORE:
                return self.words[index:]
        return ()

    @property
    def program(self) -> str:
        """What it starts, without its folder; empty for an assignment alone."""
        return program(self.command)

    @property
    def rest(self) -> tuple[str, ...]:
        """The words after the program."""
        return self.command[1:]


class Started(NamedTuple):
    """A program that a command starts, and the words behind it; ``piped``: what it prints goes to another program."""

    program: str
    rest: tuple[str, ...]
    in_shell: bool = False
    piped: bool = False


class Script(NamedTuple):
    """A line of shell: its statements, and whether it ends at the first failure, and in pipes too."""

    statements: tuple[Statement, ...]
    stops: bool
    pipes_fail: bool


@lru_cache(maxsize=8192)
def started(words: tuple[str, ...]) -> tuple[Started, ...]:
    """The programs that a command starts: those of the script that it gives to a shell, or itself; none of an empty
    one."""
    script = script_of(words)
    if script is not None:
        return tuple(
            Started(each.program, each.rest, True, each.separator in _PIPES)
            for each in script.statements
        )
    if words:
        return (Started(program(words), words[1:]),)
    return ()


@lru_cache(maxsize=8192)
def script_of(words: tuple[str, ...]) -> Script | None:
    """The script that a command gives to a shell; ``None`` of another command, or of one with blocks, documents or
    functions, in which a status goes other ways. Most jobs of a set have the same command."""
    if not runs_shell(words):
        return None
    for index, word in enumerate(words[1:-1], start=1):
        if word.startswith("-") and word.endswith("c") and not word.startswith("--"):
            if len(words) > index + 2 and "$" not in words[index + 1]:
                return None  # words that were meant to be of the script (RUN035)
            return _read(words[index + 1], " ".join(words[1 : index + 1]))
    return None


def _read(text: str, options: str) -> Script | None:
    if "<<" in text:
        return None
    statements: list[Statement] = []
    for line in _CONTINUED.sub(" ", text).splitlines():
        found = _statements(line)
        if found is None:
            return None
        statements += found
    said = [options]
    said += [" ".join(each.rest) for each in statements if each.program == "set"]
    settings = " ".join(said)
    stops = "errexit" in settings or bool(re.search(r"(?:^|\s)-[a-z]*e", settings))
    return Script(tuple(statements), stops, "pipefail" in settings)


def _statements(line: str) -> list[Statement] | None:
    """Those of one line; ``None`` where it does not end there, or has a block."""
    try:
        tokens = split(_REDIRECTED.sub(" ", line), ";&|(){}", comments=True)
    except ValueError:
        return None
    if any(token in _BLOCKS for token in tokens):
        return None
    statements = []
    words: list[str] = []
    for token in tokens:
        if token in _SEPARATORS:
            statements.append(Statement(tuple(words), token))
            words = []
        else:
            words.append(token)
    if words:
        statements.append(Statement(tuple(words), ";"))
    return [each for each in statements if each.words]
