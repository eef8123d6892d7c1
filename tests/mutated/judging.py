"""One input through `check` or `lint`, to what a user sees of it; and whether anything was wrong with that."""

from __future__ import annotations

import re
import shutil
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import FrameType
from typing import NoReturn

from trainyard.extensions.lint.linter import lint
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.render import render
from trainyard.language.source.read import MOST_DIGITS
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options, Outcome
from trainyard.run.writer import refused
from trainyard.run.writer import render as files_of

from tests.mutated.seeds import CLUSTER, ROOT, SCRIPT, Seed

TODAY = date(2026, 11, 22)
PATIENCE = 10.0
"""Seconds of CPU an input; of the clock six times as many, for a machine with other work."""
OURS = "INT", "POL015"
"""What is reported instead of a traceback: a fault of a pass, and of a rule."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with how an input was judged. ``about`` is the same for inputs that fail in the same way."""

    about: str
    text: str


class _LateError(BaseException):
    """An input that takes too long."""


class Judge:
    """Passes inputs through the compiler. ``folder`` holds the input while it is judged."""

    def __init__(self, folder: Path, formats: tuple[str, ...] = ("text", "json")) -> None:
        sys.set_int_max_str_digits(MOST_DIGITS)  # as the command line does
        self._folder = folder
        self._formats = formats
        self._specs = folder / "specs"
        shutil.copytree(ROOT / "specs", self._specs, dirs_exist_ok=True)
        (folder / "one").mkdir(exist_ok=True)
        (folder / ".git").mkdir(exist_ok=True)  # no cluster is looked for above it

    def problem(self, seed: Seed, data: bytes) -> Problem | None:
        """What is wrong, if anything."""
        try:
            with _at_most(PATIENCE):
                return self._judged(seed, data)
        except _LateError as fault:
            where = _where(fault)
            return Problem(f"slow at {where}", "".join(traceback.format_exception(fault)))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as fault:
            where = f"{type(fault).__name__} at {_where(fault)}"
            return Problem(where, "".join(traceback.format_exception(fault)))

    def _judged(self, seed: Seed, data: bytes) -> Problem | None:
        if seed.command == "lint":
            found = self._linted(data, is_script=seed.name.endswith(SCRIPT))
        else:
            found = self._checked(seed, data)
        for diagnostic in found:
            if diagnostic.code.startswith(OURS):
                text = f"{diagnostic.code} {diagnostic.message}"
                return Problem(re.sub(r"\d+|`[^`]*`", "…", text), str(diagnostic))
            if not diagnostic.message or not diagnostic.help:
                return Problem(f"{diagnostic.code} has no help", str(diagnostic))
        for name in self._formats:
            render(name, found, tool_version="0")
        return None

    def _linted(self, data: bytes, *, is_script: bool) -> list[Diagnostic]:
        name = "Dockerfile" if data.startswith(b"FROM") else "set.yaml"
        if is_script:
            name = f"job{SCRIPT}"
            (self._folder / "one" / "cluster.yaml").write_text(CLUSTER)
        file = self._folder / "one" / name
        file.write_bytes(data)
        try:
            return lint([file], Options(today=TODAY)).all()
        finally:
            file.unlink()

    def _checked(self, seed: Seed, data: bytes) -> list[Diagnostic]:
        """A spec up to the bytes of its files. One that lies among others is judged there."""
        if seed.path is None:
            file = self._folder / "one" / "spec.yaml"
        else:
            file = self._specs / seed.path
        file.write_bytes(data)
        try:
            outcome = check([file], Options(today=TODAY))
            return [*outcome.all(), *_written(outcome, file.parent)]
        finally:
            if seed.path is None:
                file.unlink()
            else:
                file.write_text(seed.text, encoding="utf-8")


def _written(outcome: Outcome, folder: Path) -> list[Diagnostic]:
    """What is found when the files of a spec without errors are made."""
    found: list[Diagnostic] = []
    if outcome.failed:
        return found
    for compilation in outcome.compilations:
        if _is_whole(compilation):
            found += refused(compilation)
            files_of(compilation, folder)
    return found


def _is_whole(compilation: Compilation) -> bool:
    return compilation.plan is not None


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Ends what takes more CPU, or much more time."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise _LateError(f"more than {seconds:g} s")

    clocks = {
        signal.ITIMER_PROF: (signal.SIGPROF, seconds),
        signal.ITIMER_REAL: (signal.SIGALRM, seconds * 6),
    }
    before = {}
    for clock, (number, most) in clocks.items():
        before[number] = signal.signal(number, end)
        signal.setitimer(clock, most)
    try:
        yield
    finally:
        for clock, (number, _) in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


def _where(fault: BaseException) -> str:
    """The last line of ours that a fault came through."""
    frames = traceback.extract_tb(fault.__traceback__)
    own = [
        frame for frame in frames if str(ROOT) in frame.filename and ".venv" not in frame.filename
    ]
    last = (own or list(frames))[-1]
    return f"{Path(last.filename).name}:{last.name}"
