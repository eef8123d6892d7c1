"""Reading the command of a job: a list of words, some of which may be lines of shell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

Option = tuple[str, str | None]  # name and value


@lru_cache(maxsize=8192)
def options(words: tuple[str, ...]) -> tuple[Option, ...]:
    """The long options of a command and of the shell lines in it: name (with ``-`` for ``_``) and value. Ten rules ask
    for those of every job."""
    return tuple(_options(words))


@lru_cache(maxsize=8192)
def named_options(words: tuple[str, ...]) -> Mapping[str, str | None]:
    """The long options of a command by name; of one that is there twice the last."""
    return dict(options(words))


def _options(words: tuple[str, ...]) -> Iterator[Option]:
    parts = [part for word in words for part in _parts(word)]
    for index, part in enumerate(parts):
        if not part.startswith("--") or len(part) == 2:
            continue
        following = parts[index + 1] if index + 1 < len(parts) else "-"
        option = part.removeprefix("--")
        name, equals, value = option.partition("=")
        name = name.replace("_", "-")
        if equals:
            yield name, value.strip("\"'")
        elif following.startswith("-"):
            yield name, None
        else:
            yield name, following


def _parts(word: str) -> Sequence[str]:
    """The words of a line of shell; a word without spaces as it is."""
    if " " in word or "\n" in word:
        return word.split()
    return (word,)


@lru_cache(maxsize=8192)
def launches(words: tuple[str, ...]) -> bool:
    """Whether a command starts torchrun."""
    line = "\n".join(words)
    return "torchrun" in line or "torch.distributed.run" in line


_BEFORE = r"(?:^|[;&|(\n]|\b(?:exec|then|do|else|time)\s)\s*(?:\w+=\S*\s+)*(?:\S*/)?"


def starts(words: Sequence[str], program: str) -> bool:
    """Whether a command, or a line of shell in it, starts a program; as an argument or an option it does not count."""
    pattern = re.compile(rf"{_BEFORE}{program}(?=\s|$)")
    for index, word in enumerate(words):
        is_line = " " in word or "\n" in word
        may_start = index == 0 or is_line
        if may_start and pattern.search(word):
            return True
    return False
