"""The grammar of a batch script: its directives, the variables that it sets, and the command that it starts.

Source: Slurm documentation, sbatch (25.05): directives stand before the first command, each on a line that begins with
``#SBATCH``; an option has its value after ``=`` or as the next word, or after the letter of a short one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from compiler.dataclass import dataclass

SHORT = {
    "A": "account",
    "a": "array",
    "b": "begin",
    "c": "cpus-per-task",
    "C": "constraint",
    "d": "dependency",
    "D": "chdir",
    "e": "error",
    "F": "nodefile",
    "G": "gpus",
    "H": "hold",
    "i": "input",
    "J": "job-name",
    "k": "no-kill",
    "L": "licenses",
    "m": "distribution",
    "M": "clusters",
    "N": "nodes",
    "n": "ntasks",
    "o": "output",
    "O": "overcommit",
    "p": "partition",
    "q": "qos",
    "s": "oversubscribe",
    "S": "core-spec",
    "t": "time",
    "W": "wait",
    "w": "nodelist",
    "x": "exclude",
}
"""The long names of short options of sbatch."""
FLAGS = frozenset((
    "contiguous", "exclusive", "get-user-env", "hold", "ignore-pbs", "kill-on-invalid-dep",
    "no-kill", "no-requeue", "overcommit", "oversubscribe", "parsable", "quiet", "reboot",
    "requeue", "spread-job", "test-only", "use-min-nodes", "verbose", "wait",
))  # fmt: skip
"""Options that need no value."""
_DIRECTIVE = re.compile(r"#SBATCH\s+(.*?)\s*(?:\s#.*)?$")
_ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$", re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")


@dataclass(frozen=True, slots=True)
class Directive:
    """An option of ``#SBATCH``: its line, from 0, its long name, and its value; "" for one without."""

    line: int
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A command of the script on one line, as bash joins its lines; ``lines`` are the line of each of its words."""

    line: int
    text: str
    lines: tuple[int, ...] = ()


def directives(text: str) -> Iterator[Directive]:
    """The options, up to the first command."""
    for number, line in enumerate(text.split("\n")):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            return
        found = _DIRECTIVE.match(line)
        if found is not None:
            yield from _options(number, found[1])


def _options(line: int, text: str) -> Iterator[Directive]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        following = words[position] if position < len(words) else ""
        name, value, takes_next = _option(word)
        if not name:
            continue
        if takes_next and following and not following.startswith("-"):
            value = following
            position += 1
        yield Directive(line, name, value)


def _option(word: str) -> tuple[str, str, bool]:
    """The long name of an option, its value, and whether that is the next word."""
    if word.startswith("--"):
        name, has_value, value = word[2:].partition("=")
        return name, value, not has_value and name not in FLAGS
    if word.startswith("-") and len(word) > 1:
        name = SHORT.get(word[1], word[1])
        value = word[2:].removeprefix("=")
        return name, value, not value and name not in FLAGS
    return "", "", False


def statements(text: str) -> Iterator[Statement]:
    """The commands, each with its lines joined; comments and here-documents are left out."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        start = number
        parts: list[str] = []
        places: list[int] = []
        while number < len(lines):
            line = lines[number].strip()
            number += 1
            if line.startswith("#") and not parts:
                break
            part = line.removesuffix("\\")
            parts.append(part.strip())
            places.append(number - 1)
            if not line.endswith("\\"):
                break
        whole = " ".join(part for part in parts if part)
        for _, end in _HEREDOC.findall(whole):
            while number < len(lines) and lines[number].strip() != end:
                number += 1
            number += 1
        if whole:
            yield Statement(start, whole, tuple(places))


def documents(text: str) -> Iterator[tuple[str, str]]:
    """The here-documents that ``cat`` writes, by the file that they are written to."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        found = _HEREDOC.search(line)
        target = re.search(r">\s*\"?([^\"\s<]+)\"?", line)
        if found is None or target is None or not line.lstrip().startswith("cat"):
            continue
        body = []
        for following in lines[number + 1 :]:
            if following.strip() == found[2]:
                break
            body.append(following)
        yield target[1], "".join(f"{line}\n" for line in body)


def assignment(statement: Statement) -> tuple[str, str] | None:
    """The name and the value of a variable that a statement sets, as it is written."""
    found = _ASSIGNMENT.match(statement.text)
    if found is None:
        return None
    return found[1], found[2]


def unquoted(value: str) -> str | None:
    """A value as bash has it; ``None`` where that is known only when the script runs."""
    try:
        words = shlex.split(value)
    except ValueError:
        return None
    if len(words) > 1 or "$(" in value or "`" in value:
        return None
    return words[0] if words else ""
