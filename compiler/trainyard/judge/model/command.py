"""Reading the command of a job: a list of words, some of which may be lines of shell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from trainyard.judge.model.statements import Started, started
from trainyard.language.shellcommands import program, runs_shell

__all__ = ["Option", "launches", "named_options", "options", "program", "runs_shell", "starts"]

Option = tuple[str, str | None]  # name and value


@lru_cache(maxsize=8192)
def options(words: tuple[str, ...]) -> tuple[Option, ...]:
    """The long options of a command and of the shell lines in it: name (with ``-`` for ``_``) and value. Ten rules ask
    for those of every job."""
    return tuple(option for each in _programs(words) for option in _options(each))


def _programs(words: Sequence[str]) -> tuple[Started, ...]:
    """The programs of a command: of a line in one word those of the line, and of options alone the image's own."""
    if words and words[0].startswith("-"):
        return (Started("", tuple(words)),)
    if len(words) == 1 and len(words[0].split()) > 1:
        return started(("sh", "-c", words[0]))
    return started(tuple(words))


@lru_cache(maxsize=8192)
def named_options(words: tuple[str, ...]) -> Mapping[str, str | None]:
    """The long options of a command by name; of one that is there twice the last."""
    return dict(options(words))


def _options(each: Started) -> Iterator[Option]:
    words = _words(each)
    for index, word in enumerate(words):
        if not word.startswith("--") or len(word) == 2:
            continue
        following = words[index + 1] if index + 1 < len(words) else "-"
        option = word.removeprefix("--")
        name, equals, value = option.partition("=")
        name = name.replace("_", "-")
        if equals:
            yield name, value.strip("\"'")
        elif following.startswith("-"):
            yield name, None
        else:
            yield name, following


def _words(each: Started) -> Sequence[str]:
    """The words behind a program. A variable with several of them is one word here, as is a text that no shell can
    read, and each of these is split."""
    is_unread = runs_shell((each.program,))
    parts: list[str] = []
    for word in each.rest:
        if is_unread or word.startswith("--"):
            parts += word.split()
        else:
            parts.append(word)
    return parts


@lru_cache(maxsize=8192)
def launches(words: tuple[str, ...]) -> bool:
    """Whether a command starts torchrun, itself or by another program."""
    return any(map(_is_torchrun, _programs(words)))


_MODULES = ("torch.distributed.run", "torch.distributed.launch")
_SAYS = frozenset({"echo", "printf", "pip", "pip3", "which", "grep", "pkill", "type", "command"})


def _is_torchrun(each: Started) -> bool:
    if each.program in _SAYS:
        return False
    words = (each.program, *_words(each))
    for before, word in zip(("", *words), words, strict=False):
        if word in _MODULES:
            return True
        if word.rpartition("/")[2] == "torchrun" and not re.fullmatch(r"--\w[^=]*", before):
            return True
    return False


def starts(words: Sequence[str], name: str) -> bool:
    """Whether a command, or a line of shell in it, starts a program; as an argument or an option it does not count."""
    return any(each.program == name for each in _programs(words))
