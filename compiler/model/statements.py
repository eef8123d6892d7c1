"""Splits a line of shell into statements, as far as that is possible without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from compiler.model.command import program, runs_shell
from compiler.shellcommands import Command, commands
from compiler.shellcommands import statements as read_statements

_BLOCKS = frozenset({"if", "for", "while", "until", "case", "function", "trap", "{"})
_PIPES = frozenset({"|", "|&"})
_VARIABLE = re.compile(
    r"\$(?:\{([A-Za-z_]\w*)(?::?[-=?][^}]*)?\}|\(([A-Za-z_]\w*)\)|([A-Za-z_]\w*))"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BEFORE = frozenset({"exec", "time", "env", "nohup", "nice", "command"})
# Programs that start the one behind their options: how many words come before it, and options with a value.
_WRAPPERS = {
    "sudo": (0, ("-u", "-g")),
    "timeout": (1, ("-s", "-k", "--signal", "--kill-after")),
    "nice": (0, ("-n", "--adjustment")),
    "ionice": (0, ("-c", "-n")),
    "taskset": (1, ()),
    "numactl": (0, ("-N", "-m", "-C", "-p", "-i")),
    "stdbuf": (0, ("-i", "-o", "-e")),
    "setsid": (0, ()),
    "env": (0, ("-u", "-C", "--unset", "--chdir")),
    "command": (0, ()),
    "exec": (0, ("-a",)),
    "nohup": (0, ()),
    "time": (0, ("-f", "-o")),
}


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
    """A program that a command starts, and the words behind it; ``piped``: what it prints goes to another program, or
    it reads a file or a document."""

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
    """The programs that a command starts, one by one: those of the script that it gives to a shell, or itself; none of
    an empty one. Of a program that starts another (`timeout 10h torchrun …`) both."""
    return tuple(_started(words, in_shell=False, piped=False))


def _started(words: tuple[str, ...], *, in_shell: bool, piped: bool) -> Iterator[Started]:
    start = 0
    while in_shell and start < len(words) and _ASSIGNMENT.match(words[start]):
        start += 1
    words = words[start:]
    if not words:
        return
    name, rest = program(words), words[1:]
    inner = _behind(name, rest)
    if inner is not None:
        if name not in _BEFORE:
            yield Started(name, rest, in_shell, piped)
        yield from _started(inner, in_shell=True, piped=piped)
        return
    read = None
    if name == "eval":
        read = read_commands(" ".join(rest))
    text = text_of(words)
    if text is not None:
        read = read_commands(text)
    if read is None:
        yield Started(name, rest, in_shell, piped)
        return
    values: dict[str, str | None] = {}
    for each in read:
        words = tuple(filled(word, values) for word in each.words)
        if all(map(_ASSIGNMENT.match, words[words[0] == "export" :])):
            values |= (word.partition("=")[::2] for word in words if "$(" not in word)
            continue
        each = each._replace(words=words)
        yield from _started(each.words, in_shell=True, piped=each.separator in _PIPES or each.reads)


def _behind(name: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """What a program like `timeout` or `env` starts; ``None`` of another program, or where it starts none."""
    if name not in _WRAPPERS:
        return None
    before, valued = _WRAPPERS[name]
    index = 0
    while index < len(rest):
        word = rest[index]
        if word.startswith("-") and word != "-":
            index += 2 if word in valued else 1
        elif name in ("env", "sudo") and _ASSIGNMENT.match(word):
            index += 1
        elif before:
            before -= 1
            index += 1
        else:
            return rest[index:]
    return None


def read_commands(text: str) -> list[Command] | None:
    """The commands of a text; ``None`` where it does not end."""
    try:
        return commands(text)
    except ValueError:
        return None


def text_of(words: tuple[str, ...]) -> str | None:
    """The text that a command gives to a shell; ``None`` of another command."""
    if not runs_shell(words):
        return None
    for index, word in enumerate(words[1:-1], start=1):
        if word.startswith("-") and word.endswith("c") and not word.startswith("--"):
            if len(words) > index + 2 and "$" not in words[index + 1]:
                return None  # words that were meant to be of the script (RUN035)
            return words[index + 1]
    return None


def filled(word: str, env: Mapping[str, str | None]) -> str:
    """A word with the values of variables that are known, by any way to write them."""
    return _VARIABLE.sub(lambda found: env.get(found[1] or found[2] or found[3]) or found[0], word)


@lru_cache(maxsize=8192)
def script_of(words: tuple[str, ...]) -> Script | None:
    """The script that a command gives to a shell; ``None`` of another command, or of one with blocks, documents or
    functions, in which a status goes other ways. Most jobs of a set have the same command."""
    text = text_of(words)
    if text is None:
        return None
    return _read(text, " ".join(words[1 : words.index(text, 1)]))


def _read(text: str, options: str) -> Script | None:
    try:
        found = read_statements(text)
    except ValueError:
        return None
    statements = [Statement(each.words, each.separator) for each in found]
    if "<<" in text or any(_opens_block(each) for each in statements):
        return None
    said = [options]
    said += [" ".join(each.rest) for each in statements if each.program == "set"]
    settings = " ".join(said)
    stops = "errexit" in settings or bool(re.search(r"(?:^|\s)-[a-z]*e", settings))
    return Script(tuple(statements), stops, "pipefail" in settings)


def _opens_block(statement: Statement) -> bool:
    return statement.separator in ("(", ")") or statement.words[0] in _BLOCKS
