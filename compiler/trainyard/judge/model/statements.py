"""Splits a line of shell into statements, as far as that is possible without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from trainyard.language.shellcommands import Command, commands, program, runs_shell
from trainyard.language.shellcommands import statements as read_statements

_BLOCKS = frozenset({"if", "for", "while", "until", "case", "function", "trap", "{"})
_PIPES = frozenset({"|", "|&"})
_VARIABLE = re.compile(
    r"\$(?:\{([A-Za-z_]\w*)(?::?[-=?][^}]*)?\}|\(([A-Za-z_]\w*)\)|([A-Za-z_]\w*))"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class _Wrapper(NamedTuple):
    """A program that starts the one behind its options: those with a value, how many words come before it, and whether
    it is one to ask about itself, unlike words that a shell has in any place."""

    valued: tuple[str, ...] = ()
    before: int = 0
    is_asked_for: bool = True


_WRAPPERS = {
    "sudo": _Wrapper(("-u", "-g")),
    "timeout": _Wrapper(("-s", "-k", "--signal", "--kill-after"), before=1),
    "ionice": _Wrapper(("-c", "-n")),
    "taskset": _Wrapper(before=1),
    "numactl": _Wrapper(("-N", "-m", "-C", "-p", "-i")),
    "stdbuf": _Wrapper(("-i", "-o", "-e")),
    "setsid": _Wrapper(),
    "nice": _Wrapper(("-n", "--adjustment"), is_asked_for=False),
    "env": _Wrapper(("-u", "-C", "--unset", "--chdir"), is_asked_for=False),
    "command": _Wrapper(is_asked_for=False),
    "exec": _Wrapper(("-a",), is_asked_for=False),
    "nohup": _Wrapper(is_asked_for=False),
    "time": _Wrapper(("-f", "-o"), is_asked_for=False),
}


class Statement(NamedTuple):
    """A simple command: its words, and the separator behind it (``;`` at the end of a line)."""

    words: tuple[str, ...]
    separator: str

    @property
    def command(self) -> tuple[str, ...]:
        """The program with its words, without what stands before it: variables, and programs that start it."""
        words: tuple[str, ...] | None = self.words
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        while words:
            inner = _behind(program(words), words[1:])
            if not inner:
                return words
            words = inner
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
        if _WRAPPERS[name].is_asked_for:
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
            known = (word for word in words if "$(" not in word and "`" not in word)
            values |= (word.partition("=")[::2] for word in known)
            continue
        each = each._replace(words=words)
        yield from _started(each.words, in_shell=True, piped=each.separator in _PIPES or each.reads)


def _behind(name: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """What a program like `timeout` or `env` starts; ``None`` of another program, or where it starts none."""
    if name not in _WRAPPERS:
        return None
    valued, before, _ = _WRAPPERS[name]
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
    index = _place_of_text(words)
    return None if index is None else words[index]


def _place_of_text(words: tuple[str, ...]) -> int | None:
    if not runs_shell(words):
        return None
    for index, word in enumerate(words[1:-1], start=2):
        if word.startswith("-") and word.endswith("c") and not word.startswith("--"):
            if len(words) > index + 1 and "$" not in words[index]:
                return None  # words that were meant to be of the script (RUN035)
            return index
    return None


def filled(word: str, env: Mapping[str, str | None]) -> str:
    """A word with the values of variables that are known, by any way to write them."""
    return _VARIABLE.sub(lambda found: env.get(found[1] or found[2] or found[3]) or found[0], word)


@lru_cache(maxsize=8192)
def script_of(words: tuple[str, ...]) -> Script | None:
    """The script that a command gives to a shell; ``None`` of another command, or of one with blocks, documents or
    functions, in which a status goes other ways. Most jobs of a set have the same command."""
    index = _place_of_text(words)
    if index is None:
        return None
    return _read(words[index], " ".join(words[1:index]))


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
