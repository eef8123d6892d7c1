"""Reading: bytes of a file to text, or why not."""

from __future__ import annotations

import errno
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator

from trainyard.disk import inputs
from trainyard.language.diagnostics.diagnostic import Diagnostic, error
from trainyard.language.places.tree import SourceFile, Span

MOST_DIGITS = 20_000
"""Digits of the longest number that is read. Python reads 4,300, and needs the square of their number."""
_HUGE = re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}")
_DIGITS = "0123456789"

# Longest first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_SAVE = "save the file as UTF-8"
STDIN = "-"
"""The path that means standard input on a command line."""
STDIN_SHOWN = "<stdin>"
"""What findings call it."""


def is_yaml(name: str) -> bool:
    """Whether a file's name ends as that of YAML does, in small letters or capitals."""
    return name.lower().endswith((".yaml", ".yml"))


def read(
    path: str | os.PathLike[str], shown: str = ""
) -> tuple[SourceFile | None, list[Diagnostic]]:
    """The text of a file, named ``shown`` (default: the path as given) in diagnostics.

    Faults (no such file, a directory, no permission, too large, binary, not UTF-8) are diagnostics; the
    file is then ``None``. A UTF-8 byte order mark is dropped and line ends become LF.
    """
    name = shown or os.fspath(path)
    if os.sep == "\\":
        name = name.replace("\\", "/")
    try:
        data = inputs.read_bytes(path)
    except (OSError, ValueError) as fault:
        return None, [_unreadable(name, fault)]
    return _decoded(data, name)


def read_stdin() -> tuple[SourceFile | None, list[Diagnostic]]:
    """The text of standard input, to its end."""
    try:
        data = inputs.read_stdin()
    except OSError as fault:
        return None, [_unreadable(STDIN_SHOWN, fault)]
    return _decoded(data, STDIN_SHOWN)


def _decoded(data: bytes, name: str) -> tuple[SourceFile | None, list[Diagnostic]]:
    if len(data) > inputs.MAX_BYTES:
        return None, [
            error(
                "YML023",
                f"`{name}` is larger than {inputs.MAX_BYTES >> 20} MiB",
                help="split it into files",
            )
        ]
    return decode(data, name)


def walk(folder: str, diagnostics: list[Diagnostic]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder, as ``os.walk`` does it; one that cannot be read is a fault, since nobody knows what it holds."""

    def report(fault: OSError) -> None:
        name = os.path.normpath(fault.filename)
        diagnostics.append(_unreadable(name, fault))

    return inputs.walk(folder, onerror=report)


def decode(data: bytes, name: str) -> tuple[SourceFile | None, list[Diagnostic]]:
    """Bytes to text: UTF-8 with or without byte order mark."""
    problem = _wrong_kind(data, name)
    if problem is not None:
        return None, [problem]
    try:
        text = data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as fault:
        return None, [_not_utf8(data, name, fault)]
    file = SourceFile(name, _with_lf(text))
    if len(text) > MOST_DIGITS:
        problem = _too_many_digits(file)
        if problem is not None:
            return None, [problem]
    return file, []


def _too_many_digits(file: SourceFile) -> Diagnostic | None:
    """The fault of a number that would take Python minutes to read; it reads them in the square of their digits."""
    start = _first_huge(file.text)
    if start is None:
        return None
    line, column = file.position(start)
    return error(
        "YML024",
        f"a number of more than {MOST_DIGITS:,} digits",
        at=Span(file, line, column, line, column + 1),
        help="write a number that fits into 64 bits, or text with other characters in between",
    )


def _first_huge(text: str) -> int | None:
    """Where the first number of more than ``MOST_DIGITS`` digits begins. It has a digit at a multiple of that number,
    so only numbers there are looked at."""
    for place in range(0, len(text), MOST_DIGITS):
        before = text[max(place - MOST_DIGITS, 0) : place]
        start = place - len(before) + len(before.rstrip(_DIGITS))
        if _HUGE.match(text, start):
            return start
    return None


def _with_lf(text: str) -> str:
    """A text with its line ends as LF."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unreadable(name: str, fault: OSError | ValueError) -> Diagnostic:
    if isinstance(fault, FileNotFoundError | NotADirectoryError):
        message = f"no file `{name}`"
        help = "check the path; it is relative to the working directory"
        if inputs.is_link(name):
            message = f"`{name}` is a link to what is not there"
            help = "correct the link, or remove it"
        return error("YML020", message, help=help)
    if isinstance(fault, IsADirectoryError):
        message = f"`{name}` is a directory, not a file"
        return error("YML021", message, help="name a file in it")
    reason = str(fault)
    help = "remove it, or name a file instead"
    if isinstance(fault, OSError):
        reason = fault.strerror or reason
        if fault.errno not in (errno.EINVAL, errno.ELOOP):
            help = "check its owner and mode"
    return error("YML022", f"cannot read `{name}`: {reason.lower()}", help=help)


def _wrong_kind(data: bytes, name: str) -> Diagnostic | None:
    """UTF-16, UTF-32 (with or without mark) or no text at all."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return error("YML016", f"`{name}` is {encoding}, not UTF-8", help=_SAVE)
    start = data.find(b"\0")
    if start < 0:
        return None
    if _is_wide(data[:64]):
        message = f"`{name}` looks like UTF-16 or UTF-32, not UTF-8"
        return error("YML016", message, help=_SAVE)
    return error(
        "YML017",
        f"`{name}` is binary",
        at=_span(data, name, start, 1),
        label="zero byte here",
        help="name a YAML file",
    )


def _is_wide(head: bytes) -> bool:
    """Whether every other byte is zero, as in ASCII text of UTF-16 or UTF-32."""
    if len(head) < 4 or len(head) % 2:
        return False
    if not any(head[0::2]):
        return True
    return not any(head[1::2])


def _not_utf8(data: bytes, name: str, fault: UnicodeDecodeError) -> Diagnostic:
    return error(
        "YML016",
        f"`{name}` is not UTF-8",
        at=_span(data, name, fault.start, 1),
        label=f"byte 0x{data[fault.start]:02x} does not belong here",
        help=_SAVE,
    )


def _span(data: bytes, name: str, offset: int, width: int) -> Span:
    """The place of a byte, in a text where every wrong byte is shown as U+FFFD."""
    read_before = data[:offset].decode("utf-8-sig", "replace")
    before = _with_lf(read_before)
    around = data[: offset + 4096].decode("utf-8-sig", "replace")
    text = _with_lf(around)
    file = SourceFile(name, text.replace("\0", "\ufffd"))
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    return Span(file, line, column, line, column + width)
