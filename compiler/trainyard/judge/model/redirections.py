"""Requirements of pip whose sign the shell takes for a redirection (POSIX, Shell Command Language, 2.7 Redirection)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.language.diagnostics import Severity
from trainyard.language.shellwords import split

_NAME = r"[A-Za-z0-9][\w.-]*(?:\[[\w,-]*\])?$"
_VERSION = r"=|\d+(?:\.[\d*]+)*,?$"


class Redirected(NamedTuple):
    """A requirement without quotes: its name, the sign that redirects, and the file that the shell opens."""

    name: str
    sign: str
    file: str

    @property
    def severity(self) -> Severity:
        """The command does not run without the file that it is to read."""
        return Severity.ERROR if self.sign == "<" else Severity.WARNING

    @property
    def effect(self) -> str:
        """What comes of it, behind the name of what has the line."""
        if self.sign == "<":
            return f"does not install `{self.name}`: the shell looks for a file `{self.file}`"
        return f"installs any version of `{self.name}`: the shell writes a file `{self.file}`"

    @property
    def help(self) -> str:
        return f'write it in quotes: `"{self.name}{self.sign}{self.file}"`'


def redirected(line: str) -> Iterator[Redirected]:
    """The requirements of a line of `pip install` that have no quotes; none where a quotation does not end."""
    try:
        words = split(line, "<>", comments=True)
    except ValueError:
        return
    for name, sign, file in zip(words, words[1:], words[2:], strict=False):
        if sign in ("<", ">") and re.match(_NAME, name) and re.match(_VERSION, file):
            yield Redirected(name, sign, file)
