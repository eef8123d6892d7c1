"""The command of a script that starts the program: its options, and the words of the program.

Source: Slurm documentation, srun (25.05): a long option has its value after ``=`` or as the next word, a short one
after its letter or as the next word, and the program follows the options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainyard.extensions.parallelcluster.formats.sbatch.grammar import (
    FLAGS,
    SHORT,
    Statement,
    assignments,
    unquoted,
)
from trainyard.language.dataclass import dataclass
from trainyard.language.shellwords import split

# What stands before a command on its line: the end of another one, words of bash, variables for it alone.
_BEFORE = r"(?:^|(?:[;&|\n]|(?<!\$)\()\s*|\b(?:then|do|else|time|exec)\s+)(?:[A-Za-z_]\w*=\S*\s+)*"
_SRUN = re.compile(rf"{_BEFORE}(srun\s.*)", re.DOTALL)
_FLAGS_OF_SRUN = FLAGS | frozenset((
    "all", "container-mount-home", "container-readonly", "container-remap-root",
    "container-writable", "disable-status", "exact", "external-launcher", "interactive",
    "join", "kill-on-bad-exit", "label", "multi-prog", "no-allocate", "no-container-entrypoint",
    "no-container-mount-home", "no-container-remap-root", "overlap", "preserve-env", "pty",
    "unbuffered", "whole",
))  # fmt: skip
"""Options of srun that need no value."""
_SHORT_FLAGS = "EHKOQRTXZkluv"
_ENDS = frozenset(("||", "&&", ";", "&", "|", "|&", ">", ">>", "2>", "&>", ">&"))
_MASKS = {end: chr(0xE000 + number) for number, end in enumerate(sorted(_ENDS))}
"""Characters of private use, which stand for operators in quotes: those are words like others."""
_QUOTED_END = re.compile(r"(?<!\S)(['\"])(" + "|".join(map(re.escape, _MASKS)) + r")\1(?!\S)")
_ARRAY = re.compile(
    r"(?:declare\s+-a\s+|local\s+(?:-a\s+)?|export\s+)?([A-Za-z_]\w*)\+?=\((.*)\)$", re.DOTALL
)
_ALL_OF = re.compile(r"\"?\$\{([A-Za-z_]\w*)\[[@*]\]\}\"?")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::?[-=]([^{}$]*))?\}|\$([A-Za-z_]\w*)")
_SINGLE_QUOTED = re.compile(r"('[^']*')")
_LAUNCHERS = ("torchrun", "torch.distributed", "accelerate", "deepspeed", "train")


@dataclass(frozen=True, slots=True)
class Step:
    """What a script starts on its nodes. ``options`` have long names; ``known``: all of them could be read."""

    statement: Statement
    options: Mapping[str, str]
    words: tuple[str, ...]
    known: bool


class Values:
    """What a script gives its variables, as far as that is one value whatever happens; and its arrays."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self._values: dict[str, str | None] = {}
        self._arrays: dict[str, str] = {}
        self._doubtful: set[str] = set()
        for statement in statements:
            self._read(statement)

    def _read(self, statement: Statement) -> None:
        array = _ARRAY.match(statement.text)
        if array is not None:
            name, items = array[1], array[2]
            self._arrays[name] = f"{self._arrays.get(name, '')} {items}".strip()
            if statement.inner:
                self._doubtful.add(name)
            return
        for name, written in assignments(statement):
            value = None if statement.inner or "$" in written else unquoted(written)
            if name in self._values and self._values[name] != value:
                value = None
            self._values[name] = value

    def filled(self, text: str) -> tuple[str, bool]:
        """A text with the values in it, and whether all arrays of it are known. ``$NAME`` without a known value
        becomes ``$(NAME)``, as Kubernetes writes it, so that commands of all platforms are read alike."""
        known = True

        def array(found: re.Match[str]) -> str:
            nonlocal known
            known = known and found[1] in self._arrays and found[1] not in self._doubtful
            return self._arrays.get(found[1], "")

        parts = _SINGLE_QUOTED.split(_ALL_OF.sub(array, text))
        parts[::2] = [_VARIABLE.sub(self._value, part) for part in parts[::2]]
        return "".join(parts), known

    def _value(self, found: re.Match[str]) -> str:
        name = found[1] or found[3]
        value = self._values.get(name)
        if value is None and name not in self._values:
            value = found[2]
        if value is None or re.search(r"[\s\"'\\]", value):
            return f"$({name})"
        return value


NO_VALUES = Values(())
"""Of scripts of ours: their variables stay as they are written."""


def started(statements: Sequence[Statement], values: Values) -> Step | None:
    """The last command that starts a program of training, or any, on the nodes of a job."""
    found = None
    for statement in statements:
        text = _SRUN.search(statement.text)
        if text is None:
            continue
        step = _step(statement, text[1], values)
        if step is None:
            continue
        if found is None or _trains(step) or not _trains(found):
            found = step
    return found


def _trains(step: Step) -> bool:
    return any(hint in word for word in step.words for hint in _LAUNCHERS)


def _step(statement: Statement, text: str, values: Values) -> Step | None:
    filled, known = values.filled(text)
    masked = _QUOTED_END.sub(lambda found: _MASKS[found[2]], filled)
    try:
        words = split(masked, ";&|")[1:]
    except ValueError:
        return None
    options: dict[str, str] = {}
    rest = iter(words)
    program: list[str] = []
    for word in rest:
        if word.startswith("$("):  # options that are known only when it runs
            known = False
        elif not word.startswith("-"):
            program = [word, *_until_end(rest)]
            break
        else:
            name, value = _option(word, rest)
            options[name] = value
    return Step(statement, options, tuple(program), known)


def _option(word: str, rest: Iterator[str]) -> tuple[str, str]:
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        if equals or name in _FLAGS_OF_SRUN:
            return name, value
        return name, next(rest, "")
    letter, value = word[1:2], word[2:]
    name = SHORT.get(letter, letter)
    if value or letter in _SHORT_FLAGS:
        return name, value
    return name, next(rest, "")


def _until_end(rest: Iterator[str]) -> Iterator[str]:
    for word in rest:
        if word in _ENDS:
            return
        yield _OF_MASKS.get(word, word)


_OF_MASKS = {mask: end for end, mask in _MASKS.items()}
