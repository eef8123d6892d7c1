"""The grammar of a batch script: its directives, the variables that it sets, and the command that it starts.

Source: Slurm documentation, sbatch (25.05): directives stand before the first command, each on a line that begins with
``#SBATCH``; an option has its value after ``=`` or as the next word, or after the letter of a short one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.extensions.parallelcluster.formats.sbatch.options import whole_name
from trainyard.language.dataclass import dataclass
from trainyard.language.shellwords import split

SHORT = {
    "A": "account",
    "a": "array",
    "B": "extra-node-info",
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
    "Q": "quiet",
    "q": "qos",
    "s": "oversubscribe",
    "S": "core-spec",
    "t": "time",
    "v": "verbose",
    "W": "wait",
    "w": "nodelist",
    "x": "exclude",
}
"""The long names of short options of sbatch."""
FLAGS = frozenset((
    "contiguous", "exclusive", "get-user-env", "hold", "ignore-pbs", "nice", "no-kill",
    "no-requeue", "oom-kill-step", "overcommit", "oversubscribe", "parsable", "propagate", "quiet",
    "reboot", "requeue", "spread-job", "stepmgr", "test-only", "use-min-nodes", "verbose", "wait",
))  # fmt: skip
"""Options that need no value: one that they may have follows ``=``."""
STRAY = ""
"""The name of a word that is neither an option nor the value of one."""
OPEN_QUOTE = '"'
"""The name of a line with a quote that nothing closes."""
OF_SEVERAL = ("hetjob", "packjob")
"""Words between the parts of a heterogeneous job."""
_DIRECTIVE = re.compile(r"#SBATCH(?=\s)(.*?)(?:\s#.*)?$")
_ASSIGNMENT = re.compile(
    r"(?:(?:export|declare|local|readonly|typeset)\s+(?:-\w+\s+)*)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$",
    re.DOTALL,
)
# Values without blanks, or with these in quotes or a command's parentheses.
_VALUE = r"(?:[^\s'\"\\`()]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\([^()]*\))*"
_PAIR = re.compile(rf"([A-Za-z_][A-Za-z0-9_]*)=({_VALUE})(?:\s+|$)", re.DOTALL)
_SEVERAL = re.compile(
    r"(?P<how>(?:export|declare|local|readonly|typeset)\s+(?:-\w+\s+)*)?"
    rf"(?P<pairs>(?:[A-Za-z_][A-Za-z0-9_]*={_VALUE}(?:\s+|$))+)(?P<rest>.*)$",
    re.DOTALL,
)
_DEFAULT = re.compile(r':\s+"?\$\{([A-Za-z_][A-Za-z0-9_]*):=(.*)\}"?$', re.DOTALL)
_HEREDOC = re.compile(r"(?<!<)<<(?!<)-?\s*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")


@dataclass(frozen=True, slots=True)
class Directive:
    """An option of ``#SBATCH``: its line, from 0, its long name, and its value; "" for one without.

    What is no option is called ``STRAY`` or ``OPEN_QUOTE``, and has its text as the value.
    """

    line: int
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A command of the script, as bash joins its ``lines``. ``inner``: it stands in a block or in a function, and may
    not run."""

    line: int
    text: str
    lines: tuple[int, ...] = ()
    inner: bool = False


def directives(text: str) -> Iterator[Directive]:
    """The options, up to the first command."""
    for number, line in enumerate(text.split("\n")):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            return
        found = _DIRECTIVE.match(line)
        if found is not None:
            yield from _options(number, found[1].strip())


def _options(line: int, text: str) -> Iterator[Directive]:
    try:
        words = split(text)
    except ValueError:
        yield Directive(line, OPEN_QUOTE, text)
        return
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        following = words[position] if position < len(words) else ""
        if word in OF_SEVERAL:
            yield Directive(line, word, "")
            continue
        name, value, takes_next = _option(word)
        if takes_next and following and not following.startswith("-"):
            value = following
            position += 1
        yield Directive(line, name, value)


def _option(word: str) -> tuple[str, str, bool]:
    """The long name of an option, its value, and whether that is the next word."""
    if word.startswith("--"):
        written, has_value, value = word[2:].partition("=")
        name = whole_name(written)
        return name, value, not has_value and name not in FLAGS
    if word.startswith("-") and len(word) > 1:
        name = SHORT.get(word[1], word[1])
        value = word[2:].removeprefix("=")
        return name, value, not value and name not in FLAGS
    return STRAY, word, False


def statements(text: str) -> Iterator[Statement]:
    """The commands, each as bash joins its lines; comments and here-documents are left out."""
    blocks = 0
    for joined in _joined_lines(text):
        whole = joined.text
        if whole:
            blocks = max(blocks - _closed(whole), 0)
            yield Statement(joined.line, whole, tuple(joined.places), blocks > 0)
            blocks += _opened(whole)


def _joined_lines(text: str) -> Iterator[_Joined]:
    """What bash reads as one line each, without here-documents."""
    lines = text.split("\n")
    ends = _Ends(lines)
    number = 0
    while number < len(lines):
        joined = _Joined(lines, number)
        number += len(joined.places)
        for _, end in _HEREDOC.findall(joined.text):
            number = ends.after(end, number)
        yield joined


class _Joined:
    """Lines that bash reads as one: to the end of their quotes, of an array, of lines that end in a backslash."""

    def __init__(self, lines: Sequence[str], line: int) -> None:
        self.line = line
        self.places: list[int] = []
        self._parts: list[str] = []
        self._quote = ""
        self._in_array = False
        self._goes_on = False
        for number in range(line, len(lines)):
            self._add(lines[number], number)
            if not self._is_open:
                break

    @property
    def _is_open(self) -> bool:
        return bool(self._quote) or self._in_array or self._goes_on

    @property
    def text(self) -> str:
        return "".join(self._parts).strip()

    def _add(self, line: str, number: int) -> None:
        self.places.append(number)
        if self._quote:
            self._parts.append("\n")
        elif self._parts:
            self._parts.append(" ")
        kept = line if self._quote else line.strip()
        part = self._read(kept)
        self._goes_on = not self._quote and part.endswith("\\")
        self._parts.append(part.removesuffix("\\").rstrip() if self._goes_on else part)

    def _read(self, line: str) -> str:
        """A line without its comment; the quote and the array that it leaves open are noted."""
        position = 0
        opened = 0  # `$(` on this line, less what is closed
        while position < len(line):
            char = line[position]
            if char == "(" and line[position - 1 : position] == "$":
                opened += 1
            elif char == ")":
                opened -= 1
            if char == "\\" and self._quote != "'":
                position += 2
                continue
            if self._quote:
                if char == self._quote:
                    self._quote = ""
            elif char in "\"'":
                self._quote = char
            elif char == "#" and (position == 0 or line[position - 1].isspace()):
                return line[:position].rstrip()
            elif char == "(" and line[position - 1 : position] == "=":
                self._in_array = True
            elif char == ")" and self._in_array and opened < 0:
                self._in_array = False
            position += 1
        return line


_OPENS = re.compile(
    r"(?:if|for|while|until|case|select)\b|(?:function\s+)?[\w-]+\s*(?:\(\)\s*)?\{\s*$"
)
_CLOSES = re.compile(r"(?:fi|done|esac|\})(?=$|[\s;&|<>)])")
_INNER_END = re.compile(r"(?:^|[;\s])(?:fi|done|esac|\})\s*(?:$|[;&|<>)])")


def _opened(text: str) -> int:
    """Whether a statement begins a block, or a function, that does not end in it."""
    return int(bool(_OPENS.match(text)) and not _INNER_END.search(text))


def _closed(text: str) -> int:
    return int(bool(_CLOSES.match(text)))


def in_documents(text: str) -> set[int]:
    """The lines of here-documents: they are of other files."""
    lines = text.split("\n")
    ends = _Ends(lines)
    found: set[int] = set()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.lstrip().startswith("#"):
            continue
        for _, end in _HEREDOC.findall(line):
            start, number = number, ends.after(end, number)
            found.update(range(start, number))
    return found


class _Ends:
    """Where here-documents may end: the lines of a script by what they say."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._numbers: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            self._numbers.setdefault(line.strip(), []).append(number)

    def after(self, end: str, start: int) -> int:
        """The line after a here-document; its first where nothing ends it, since then it was none."""
        numbers = self._numbers.get(end, [])
        index = bisect_left(numbers, start)
        return numbers[index] + 1 if index < len(numbers) else start


class Written(NamedTuple):
    """A here-document that ``cat`` writes to a file, and the number of its line."""

    file: str
    text: str
    line: int


def documents(text: str) -> Iterator[Written]:
    """The here-documents that ``cat`` writes to files."""
    lines = text.split("\n")
    ends = _Ends(lines)
    for number, line in enumerate(lines):
        found = _HEREDOC.search(line)
        target = re.search(r">\s*\"?([^\"\s<]+)\"?", line)
        if found is None or target is None or not line.lstrip().startswith("cat"):
            continue
        after = ends.after(found[2], number + 1)
        if after > number + 1:
            body = lines[number + 1 : after - 1]
            yield Written(target[1], "".join(f"{line}\n" for line in body), number)


def assignments(statement: Statement) -> list[tuple[str, str]]:
    """The variables that a statement sets, each with its value as it is written; none of those before a command."""
    several = _SEVERAL.match(statement.text)
    if several is not None:
        return [] if _is_of_command(several) else _PAIR.findall(several["pairs"])
    found = _ASSIGNMENT.match(statement.text) or _DEFAULT.match(statement.text)
    return [(found[1], found[2])] if found is not None else []


def before_command(statement: Statement) -> list[tuple[str, str]]:
    """The variables that stand before a command, which has them alone."""
    several = _SEVERAL.match(statement.text)
    if several is None or not _is_of_command(several):
        return []
    return _PAIR.findall(several["pairs"])


def _is_of_command(several: re.Match[str]) -> bool:
    """Whether a command follows assignments, and no comment, operator or redirection."""
    return not several["how"] and several["rest"][:1] not in ("", *"#;&|<>")


def unquoted(value: str) -> str | None:
    """A value as bash has it; ``None`` where that is known only when the script runs."""
    try:
        words = split(value)
    except ValueError:
        return None
    run = re.sub(r"'[^']*'", "", value)
    if len(words) > 1 or "$(" in run or "`" in run:
        return None
    return words[0] if words else ""
