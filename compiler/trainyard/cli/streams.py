"""Standard output and standard error, made safe whatever encoding or state the caller left them in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from trainyard.cli.exits import BROKEN_PIPE

if TYPE_CHECKING:
    from pathlib import Path

written_files: list[Callable[[str, str], object]] = []
"""Called with each report that is written into a file."""


class UsageError(Exception):
    """Wrong words on the command line, or output that cannot be written; the message is for the user."""


def prepare() -> None:
    """Streams that can take any text: closed ones lead nowhere, and what an encoding lacks is escaped.

    A closed descriptor (``>&-``) would go to the next file that is opened, which may be one of the output tree.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not stream:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
        stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, stream)


def print_out(text: str) -> None:
    """Write to standard output, at once. Raises ``UsageError`` for a full disk, ``BrokenPipeError`` where the
    reader has gone."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise UsageError(f"cannot write standard output: {reason.lower()}") from None


def print_err(text: str) -> None:
    """Write to standard error, with everything visible."""
    put_err(visible(text))


def put_err(text: str) -> None:
    """Write to standard error. What cannot be said there does not change how the run ends."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        return


def save(path: str, text: str) -> None:
    """Write a report into a file. Raises ``UsageError`` where that cannot be."""
    for tell in written_files:
        tell(path, text)
    from pathlib import Path

    data = text.encode(errors="backslashreplace")
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if os.path.exists(path) and not os.path.isfile(path):  # a terminal, a pipe
            Path(path).write_bytes(data)
        else:
            write_over(Path(os.path.realpath(path)), data)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise UsageError(f"cannot write `{path}`: {reason.lower()}") from None


def write_over(target: Path, data: bytes) -> None:
    """Write a file at once: where there is no room for all of it, it stays what it was. Its mode stays. Raises
    ``OSError``."""
    import stat
    import tempfile

    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _new_mode()
    handle, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(made, mode)
        os.replace(made, target)
    except OSError:
        os.unlink(made)
        raise


def _new_mode() -> int:
    """The mode of a new file, as the user's mask has it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def has_colors(unwanted: bool) -> bool:
    """Whether to colour: at a terminal that can, unless ``--no-color`` or NO_COLOR (no-color.org) say otherwise."""
    if unwanted or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def leave_pipe() -> int:
    """The reader has gone (`| head`): nothing is left to say, not even at interpreter exit. The exit code."""
    for stream in (sys.stdout, sys.stderr):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
    return BROKEN_PIPE


def visible(text: str) -> str:
    """Text of several lines with everything in it visible: nothing in a spec may steer a terminal."""
    from trainyard.language.diagnostics.render.text import printable

    return "\n".join(map(printable, text.split("\n")))
