"""The grammar of a Dockerfile: instructions with their lines, words and flags.

Source: Dockerfile reference (docs.docker.com, 2026-11): a line that ends with a backslash goes on with the next one,
comments between are dropped; only `ARG` may come before the first `FROM`; a text in JSON is a list of words.
Here-documents: moby/buildkit, frontend/dockerfile/parser/parser.go (ca4838f8, `reHeredoc`, `Parse`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from trainyard.language.dataclass import dataclass
from trainyard.language.shellwords import split

INSTRUCTIONS = (
    "ADD",
    "ARG",
    "CMD",
    "COPY",
    "ENTRYPOINT",
    "ENV",
    "EXPOSE",
    "FROM",
    "HEALTHCHECK",
    "LABEL",
    "MAINTAINER",
    "ONBUILD",
    "RUN",
    "SHELL",
    "STOPSIGNAL",
    "USER",
    "VOLUME",
    "WORKDIR",
)
_DIRECTIVE = re.compile(r"#\s*escape\s*=\s*(\S)\s*$", re.IGNORECASE)
_QUOTED = r"\"(?:\\.|[^\"\\])*\"|'[^']*'"
_HEREDOC = r"(?<!\S)\d*<<(?P<tabs>-?)\s*(?P<quote>[\"']?)(?P<end>\w+)(?P=quote)(?=\s|$)"
_VALUE = r'([A-Za-z0-9_.-]+)=("(?:\\.|[^"\\])*"|\'[^\']*\'|(?:\\.|[^\s\\])*)'


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: its first line, from 0, its name in capitals, its flags, and the rest on one line.

    ``document``: the lines of a here-document that follows it; ``unended``: the name of one that never ends; ``parts``:
    the lines of the text, each with its number.
    """

    line: int
    name: str
    text: str
    flags: tuple[str, ...] = ()
    document: str = ""
    unended: str = ""
    parts: tuple[tuple[int, str], ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text: of JSON its items. Raises ``ValueError`` where a quotation does not end."""
        if self.text.startswith("["):
            try:
                items = json.loads(self.text)
            except ValueError:
                items = None
            if isinstance(items, list):
                return tuple(map(str, items))
        return tuple(split(self.text))

    @property
    def values(self) -> dict[str, str]:
        """The names and values of ENV, ARG or LABEL, without quotes. ENV has a former way to write one of them."""
        first, _, rest = self.text.partition(" ")
        if self.name == "ENV" and "=" not in first:
            return {first: unquoted(rest.strip())}
        pairs = re.findall(_VALUE, self.text)
        return {name: unquoted(value) for name, value in pairs}

    def line_of(self, name: str) -> int:
        """The line on which a name of ENV, ARG or LABEL stands with its value."""
        for line, part in self.parts:
            if name in (found for found, _ in re.findall(_VALUE, part)):
                return line
        return self.line

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands of a RUN, one after the other."""
        text = f"{self.text} ; {self.document}"
        parts = re.split(r"\s*(?:&&|;|\|\|)\s*", text)
        commands = [part.strip() for part in parts]
        return tuple(command for command in commands if command)


def unquoted(value: str) -> str:
    """A value without its quotes and escapes."""
    if value[:1] == "'" == value[-1:]:
        return value[1:-1]
    is_quoted = value[:1] == '"' == value[-1:]
    if is_quoted and len(value) > 1:
        value = value[1:-1]
    return re.sub(r"\\(.)", r"\1", value)


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions of a Dockerfile, known or not."""
    lines = text.split("\n")
    escape = "\\"
    directive = _DIRECTIVE.match(lines[0]) if lines else None
    if directive is not None:
        escape = directive[1]
    number = 0
    while number < len(lines):
        start = number
        parts: list[tuple[int, str]] = []
        while number < len(lines):
            line = lines[number].rstrip()
            number += 1
            if not line.strip() or line.lstrip().startswith("#"):
                if parts:
                    continue  # within an instruction they are dropped
                break
            part = line.strip().removesuffix(escape)
            parts.append((number - 1, part.strip()))
            if not line.endswith(escape):
                break
        whole = " ".join(part for _, part in parts if part)
        if not whole:
            continue
        name, _, rest = whole.partition(" ")
        flags: list[str] = []
        rest = rest.strip()
        while rest.startswith("--"):
            flag, _, rest = rest.partition(" ")
            flags.append(flag)
            rest = rest.strip()
        document: list[str] = []
        unended = ""
        for end, tabs in _here_documents(name.upper(), rest):
            while number < len(lines) and lines[number].lstrip(tabs) != end:
                document.append(lines[number])
                number += 1
            if number == len(lines):
                unended = end
            number += 1
        text = "\n".join(document)
        yield Instruction(start, name.upper(), rest, tuple(flags), text, unended, tuple(parts))


def _here_documents(name: str, text: str) -> Iterator[tuple[str, str]]:
    """The last line of each here-document that an instruction has, and what may stand before it there."""
    if name == "ONBUILD":
        name, _, text = text.partition(" ")
    if name.upper() not in ("RUN", "COPY", "ADD") or text.startswith("["):
        return
    for found in re.finditer(f"{_QUOTED}|{_HEREDOC}", text):
        if found["end"]:
            yield found["end"], "\t" if found["tabs"] else ""
