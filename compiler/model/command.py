"""Reading the command of a job: a list of words, some of which may be lines of shell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache


def options(words: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """The long options of a command and of the shell lines in it: name (with ``-`` for ``_``) and value."""
    return _options(tuple(words))


@lru_cache(maxsize=8192)
def _options(words: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    """Ten rules ask for the options of every job."""
    return tuple(_found(words))


def _found(words: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    parts = [
        part
        for word in words
        for part in (word.split() if " " in word or "\n" in word else (word,))
    ]
    for index, part in enumerate(parts):
        if part.startswith("--") and len(part) > 2:
            name, equals, given = part[2:].partition("=")
            after = parts[index + 1] if index + 1 < len(parts) else "-"
            yield (
                name.replace("_", "-"),
                given.strip("\"'")
                if equals
                else None
                if after.startswith("-")
                else after,
            )


def launches(words: Sequence[str]) -> bool:
    """Whether a command starts torchrun."""
    return any(
        name in word for word in words for name in ("torchrun", "torch.distributed.run")
    )


_BEFORE = r"(?:^|[;&|(\n]|\b(?:exec|then|do|else|time)\s)\s*(?:\w+=\S*\s+)*(?:\S*/)?"


def starts(words: Sequence[str], program: str) -> bool:
    """Whether a command, or a line of shell in it, starts a program; as an argument or an option it does not count."""
    lines = [word for word in words[1:] if " " in word or "\n" in word]
    return any(
        re.search(rf"{_BEFORE}{program}(?=\s|$)", line) for line in (*words[:1], *lines)
    )


def program(words: Sequence[str]) -> str:
    """The name of the program that a command starts, without its folder; empty without a command."""
    return words[0].rpartition("/")[2] if words else ""


def runs_shell(words: Sequence[str]) -> bool:
    """Whether the program of a command is a shell."""
    return program(words) in ("sh", "bash", "dash", "ash", "zsh", "ksh")
