"""Repeats the output of an earlier run whose inputs were the same.

This is looked up before anything else is imported, so only the standard library's smallest modules are used. What was
read and listed, and is asked for again here, is noted by ``disk/inputs.py``. The rest of the question: the words of
the command line, the folder in which it is run, the day, whether there are colours, and the program itself.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from trainyard.cli.exits import CLEAN, FINDINGS, INTERRUPTED, STALE, USAGE
from trainyard.cli.streams import (
    UsageError,
    has_colors,
    leave_pipe,
    print_err,
    print_out,
    put_err,
    save,
    written_files,
)
from trainyard.disk.cache import Cache, default_folder
from trainyard.disk.inputs import Record, Seen, unchanged

_COMMANDS = ("check", "compile", "lint")
_KEPT = (CLEAN, FINDINGS, STALE)
"""Exit codes of runs that can be repeated. Unreadable input and internal errors are judged again each time."""
_OUT, _ERR, _FILE = "out", "err", "file"
_MOST = 8 << 20  # characters of output that are kept

Said = list[list[str]]
"""What a run said, in its order: each with where it went."""


class Request:
    """What is asked of a run, and what earlier runs answered."""

    def __init__(self, words: Sequence[str], cache: Cache) -> None:
        self.cache = cache
        today = time.localtime()[:3]
        no_color = "--no-color" in words
        self.question = ["run", cache.program, *today, os.getcwd(), has_colors(no_color), *words]

    def answer(self) -> int | None:
        """Repeat the output of a run with the same arguments, if what it read is unchanged; returns its exit code."""
        known = self.cache.get(self.question)
        if known is None:
            return None
        seen = known["seen"]
        now = unchanged(seen)
        if now is None:
            return None
        code = _say(known["said"], known["code"])
        if now != seen:
            self.cache.put(self.question, {**known, "seen": now})
        return code

    def keep(self, record: Record, said: Said, code: int) -> None:
        """Keep what this run said, if it can be repeated."""
        if not record.whole or code not in _KEPT:
            return
        if sum(len(text) for _, *texts in said for text in texts) > _MOST:
            return
        seen: list[Seen] = record.items()
        self.cache.put(self.question, {"seen": seen, "said": said, "code": code})
        self.cache.trim()


current: Request | None = None
"""What this process was asked, where the answer may be kept."""


def request(arguments: Sequence[str]) -> Request | None:
    """The request of a command line; ``None`` where its answer is never kept."""
    words, folder = _split(arguments)
    command = next((word for word in words if not word.startswith("-")), "")
    if folder is None or command not in _COMMANDS or "-" in words:
        return None
    try:
        return Request(words, Cache(folder))
    except OSError:
        return None  # a working directory that was removed


def _split(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """The words without those about the cache, and its folder; ``None`` for none. argparse takes short forms too."""
    words: list[str] = []
    folder: str | None = default_folder(os.environ)
    rest = iter(arguments)
    for word in rest:
        name, _, value = word.partition("=")
        if word == "--":
            words += [word, *rest]
        elif _is_short_for(name, "--no-cache", "--no-ca"):
            return words, None
        elif _is_short_for(name, "--cache-dir", "--cac"):
            folder = value or next(rest, None)
        else:
            words.append(word)
    return words, folder


def _is_short_for(word: str, option: str, shortest: str) -> bool:
    return option.startswith(word) and word.startswith(shortest)


def _say(said: Said, code: int) -> int:
    """Say what was said, in the same order; how that ends."""
    try:
        for kind, *texts in said:
            if kind == _OUT:
                print_out(texts[0])
            elif kind == _ERR:
                put_err(texts[0])
            else:
                save(*texts)
    except BrokenPipeError:
        return leave_pipe()
    except KeyboardInterrupt:
        return INTERRUPTED
    except UsageError as fault:
        print_err(f"trainyard: {fault}\n")
        return USAGE
    return code


class Heard:
    """A stream whose text is also noted."""

    def __init__(self, stream: Any, kind: str, said: Said) -> None:
        self._stream = stream
        self._kind = kind
        self._said = said

    def write(self, text: str) -> int:
        """Write, and note what was written."""
        if self._said and self._said[-1][0] == self._kind:
            self._said[-1][1] += text
        else:
            self._said.append([self._kind, text])
        count: int = self._stream.write(text)
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def listen() -> Said:
    """From now on, note what is said: on both streams, and in files."""
    said: Said = []
    sys.stdout = Heard(sys.stdout, _OUT, said)
    sys.stderr = Heard(sys.stderr, _ERR, said)
    written_files.append(lambda path, text: said.append([_FILE, path, text]))
    return said
