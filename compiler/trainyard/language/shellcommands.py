"""The commands of shell text: one reader for all that is asked of what people have a shell run.

Source: POSIX, Shell Command Language, 2.2 Quoting to 2.9 Shell Commands; bash 5.2 for `|&`, `&>` and `<<<`. Nothing is
run: `$NAME`, `${NAME}` and `$(…)` stay in their words as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_REDIRECTION = re.compile(r"(?:&>>?|\d*(?:<<<|<<-?|>>|>\||[<>]&|<>|[<>](?!\()))")
_SEPARATOR = re.compile(r"&&|\|\||\|&|;;|[;&|()\n]")
_PLAIN = re.compile(r"[^\s'\"\\`$;&|()<>#]+")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])")
_ESCAPED = re.compile(r'\\([$`"\\\n])')
_CLOSES = {"(": ")", "{": "}"}
_OPENS = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{", "time"})
_NO_COMMAND = frozenset(
    {"for", "select", "case", "function", "fi", "done", "esac", "}", "[[", "[", "test"}
)


class Command(NamedTuple):
    """A simple command: its words without redirections, the separator behind it (``;`` for the end of a line),
    whether it reads a file or a document, and its text as it is written."""

    words: tuple[str, ...]
    separator: str
    reads: bool = False
    text: str = ""


def commands(text: str) -> list[Command]:
    """The simple commands of a text, those in blocks and subshells too, without the words that open a block. A
    ``ValueError`` where a quote is not closed."""
    found = []
    for words, separator, reads, written in statements(text):
        start = 0
        while start < len(words) and words[start] in _OPENS:
            start += 1
        rest = words[start:]
        if rest and rest[0] not in _NO_COMMAND:
            found.append(Command(rest, separator, reads, written))
    return found


def statements(text: str) -> list[Command]:
    """What stands between separators, `(` and `)` among them, with the words that open a block."""
    reader = _Reader(text)
    reader.read()
    return reader.found


def program(words: Sequence[str]) -> str:
    """The name of the program that a command starts, without its folder; empty without a command."""
    if words:
        return words[0].rpartition("/")[2]
    return ""


def runs_shell(words: Sequence[str]) -> bool:
    """Whether the program of a command is a shell."""
    return program(words) in ("sh", "bash", "dash", "ash", "zsh", "ksh")


class _Reader:
    """One pass over a text, in time that grows with it."""

    def __init__(self, text: str) -> None:
        self.found: list[Command] = []
        self._text = text
        self._at = 0
        self._words: list[str] = []
        self._parts: list[str] | None = None
        self._redirects = ""
        self._documents: list[str] = []
        self._reads = False
        self._from = 0

    def read(self) -> None:
        text = self._text
        while self._at < len(text):
            char = text[self._at]
            if text.startswith("\\\n", self._at):
                self._at += 2
            elif char in " \t\r":
                self._end_word()
                self._at += 1
            elif char == "#" and self._parts is None:
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif not self._operator():
                self._add(self._piece(char))
        self._end_command(";", len(text))

    def _operator(self) -> bool:
        is_number = self._parts is None or "".join(self._parts).isdigit()
        start = self._at
        found = _REDIRECTION.match(self._text, start)
        if found is not None and found[0].lstrip("0123456789") and self._parts is not None:
            if is_number and self._text[start] in "<>":
                self._parts = None  # the number of what is redirected
            self._end_word()
        if found is not None and (self._parts is None):
            self._redirects = found[0].lstrip("0123456789")
            self._reads |= self._redirects.startswith("<")
            self._at = found.end()
            return True
        found = _SEPARATOR.match(self._text, start)
        if found is None:
            return False
        self._at = found.end()
        is_line = found[0] == "\n"
        self._end_command(";" if is_line else found[0], start)
        self._from = self._at
        if is_line:
            self._skip_documents()
        return True

    def _add(self, part: str) -> None:
        if self._parts is None:
            self._parts = []
        self._parts.append(part)

    def _end_word(self) -> None:
        if self._parts is None:
            return
        word = "".join(self._parts)
        self._parts = None
        if not self._redirects:
            self._words.append(word)
        elif self._redirects in ("<<", "<<-"):
            self._documents.append(word)
        self._redirects = ""

    def _end_command(self, separator: str, end: int) -> None:
        self._end_word()
        if self._words or separator in "()":
            written = self._text[self._from : end]
            self.found.append(Command(tuple(self._words), separator, self._reads, written))
            self._words = []
            self._reads = False

    def _skip_documents(self) -> None:
        for end in self._documents:
            found = re.compile(rf"^\t*{re.escape(end)}$", re.MULTILINE).search(self._text, self._at)
            self._at = len(self._text) if found is None else found.end()
            self._from = self._at
        self._documents = []

    def _piece(self, char: str) -> str:
        """The next part of a word, as it is meant."""
        text, start = self._text, self._at
        if char == "'":
            self._at = _closing(text, "'", start + 1) + 1
            return text[start + 1 : self._at - 1]
        if char == '"':
            return self._in_double()
        if char == "\\":
            if start + 1 == len(text):
                raise ValueError("No escaped character")
            self._at += 2
            return text[start + 1]
        if char == "`":
            self._at = _closing(text, "`", start + 1) + 1
            return text[start : self._at]
        if char in "$<>":
            return self._substitution()
        found = _PLAIN.match(text, start)
        self._at = start + 1 if found is None else found.end()
        return text[start : self._at]

    def _substitution(self) -> str:
        """`$NAME`, `${…}`, `$(…)`, `<(…)`, as they are written."""
        text, start = self._text, self._at
        opening = text[start + 1 : start + 2]
        found = _VARIABLE.match(text, start)
        if opening in _CLOSES:
            self._at = _balanced(text, start + 1)
        elif found is not None:
            self._at = found.end()
        else:
            self._at = start + 1
        return text[start : self._at]

    def _in_double(self) -> str:
        text = self._text
        self._at += 1
        parts = []
        start = self._at
        while True:
            if self._at >= len(text):
                raise ValueError("No closing quotation")
            char = text[self._at]
            if char == '"':
                parts.append(_ESCAPED.sub(_unescaped, text[start : self._at]))
                self._at += 1
                return "".join(parts)
            if char == "\\":
                self._at += 2
            elif char == "$":
                parts.append(_ESCAPED.sub(_unescaped, text[start : self._at]))
                parts.append(self._substitution())
                start = self._at
            else:
                self._at += 1


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1]


def _closing(text: str, quote: str, start: int) -> int:
    end = text.find(quote, start)
    if end < 0:
        raise ValueError("No closing quotation")
    return end


def _balanced(text: str, start: int) -> int:
    """Behind the bracket that closes the one at ``start``."""
    opening = text[start]
    closing = _CLOSES[opening]
    depth = 0
    position = start
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 1
        elif char == "'" and opening == "(":
            position = _closing(text, "'", position + 1)
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    raise ValueError("No closing bracket")
