"""Standard output and standard error, whatever the caller set them to."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


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


def out(text: str) -> None:
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


def err(text: str) -> None:
    """Write to standard error. What cannot be said there does not change how the run ends."""
    with suppress(OSError):
        sys.stderr.write(visible(text))
        sys.stderr.flush()


def visible(text: str) -> str:
    """Text of several lines with everything in it visible: nothing in a spec may steer a terminal."""
    from compiler.diagnostics.render.text import printable

    return "\n".join(map(printable, text.split("\n")))
