"""Reading: bytes of a file to text, or why not."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from io import RawIOBase

from compiler.diagnostics.diagnostic import Diagnostic, error
from compiler.source.tree import SourceFile, Span

MAX_BYTES = 64 << 20
"""Largest file read, in bytes: twelve times a spec of 10,000 jobs."""

# Longest first: the UTF-32 mark begins with the UTF-16 one.
_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_SAVE = "save the file as UTF-8"
STDIN = "-"
"""The path that stands for standard input on a command line."""
_STDIN_SHOWN = "<stdin>"
_HANDED = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts what it opened for a command, like `<(helm template …)`; some writer is at the other end."""


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
    name = (
        (shown or os.fspath(path)).replace("\\", "/")
        if os.sep == "\\"
        else shown or os.fspath(path)
    )
    try:
        data = read_bytes(path)
    except (OSError, ValueError) as fault:
        return None, [_unreadable(name, fault)]
    return _decoded(data, name)


def read_stdin() -> tuple[SourceFile | None, list[Diagnostic]]:
    """The text of standard input, to its end."""
    try:
        with open(0, "rb", buffering=0, closefd=False) as handle:
            data = _bounded(handle)
    except OSError as fault:
        return None, [_unreadable(_STDIN_SHOWN, fault)]
    return _decoded(data, _STDIN_SHOWN)


def _decoded(data: bytes, name: str) -> tuple[SourceFile | None, list[Diagnostic]]:
    if len(data) > MAX_BYTES:
        return None, [
            error(
                "YML023",
                f"`{name}` is larger than {MAX_BYTES >> 20} MiB",
                help="split it into files",
            )
        ]
    return decode(data, name)


def walk(
    folder: str, found: list[Diagnostic]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """``os.walk``; a folder that cannot be read is a fault, since nobody knows what it holds."""
    return os.walk(
        folder,
        onerror=lambda fault: found.append(
            _unreadable(os.path.normpath(fault.filename), fault)
        ),
    )


def decode(data: bytes, name: str) -> tuple[SourceFile | None, list[Diagnostic]]:
    """Bytes to text: UTF-8 with or without byte order mark."""
    if (found := _wrong_kind(data, name)) is not None:
        return None, [found]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        return None, [_not_utf8(data, name, fault)]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return SourceFile(name, text), []


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file, at most ``MAX_BYTES`` and one. Anything else is an ``OSError``: to open a pipe would
    wait for its writer, and a device may never end."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode) and not os.fspath(path).startswith(_HANDED):
        kind = next(
            (word for is_kind, word in _KINDS if is_kind(found.st_mode)), "no file"
        )
        number = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
        raise OSError(
            number, f"it is {kind}, and only regular files are read", os.fspath(path)
        )
    with open(path, "rb", buffering=0) as handle:
        if stat.S_ISREG(found.st_mode) and found.st_size <= MAX_BYTES:
            return handle.readall()
        return _bounded(handle)


_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a directory"),
)


def _bounded(handle: RawIOBase) -> bytes:
    """All of a stream up to one byte more than is taken: it may have no end."""
    chunks, total = [], 0
    while total <= MAX_BYTES and (chunk := handle.read(1 << 20)):
        chunks.append(chunk)
        total += len(chunk)
    return b"".join(chunks)


def _unreadable(name: str, fault: OSError | ValueError) -> Diagnostic:
    if isinstance(fault, FileNotFoundError | NotADirectoryError):
        return error(
            "YML020",
            f"no file `{name}`",
            help="check the path; it is relative to the working directory",
        )
    if isinstance(fault, IsADirectoryError):
        return error(
            "YML021", f"`{name}` is a directory, not a file", help="name a file in it"
        )
    reason = (
        (fault.strerror or str(fault)) if isinstance(fault, OSError) else str(fault)
    )
    if isinstance(fault, OSError) and fault.errno not in (errno.EINVAL, errno.ELOOP):
        help = "check its owner and mode"
    else:
        help = "remove it, or name a file instead"
    return error("YML022", f"cannot read `{name}`: {reason.lower()}", help=help)


def _wrong_kind(data: bytes, name: str) -> Diagnostic | None:
    """UTF-16, UTF-32 (with or without mark) or no text at all."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return error("YML016", f"`{name}` is {encoding}, not UTF-8", help=_SAVE)
    at = data.find(b"\0")
    if at < 0:
        return None
    head = data[:64]
    if (
        len(head) >= 4
        and len(head) % 2 == 0
        and (not any(head[0::2]) or not any(head[1::2]))
    ):
        return error(
            "YML016", f"`{name}` looks like UTF-16 or UTF-32, not UTF-8", help=_SAVE
        )
    span = _span(data, name, at, 1)
    return error(
        "YML017",
        f"`{name}` is binary",
        span=span,
        label="zero byte here",
        help="name a YAML file",
    )


def _not_utf8(data: bytes, name: str, fault: UnicodeDecodeError) -> Diagnostic:
    return error(
        "YML016",
        f"`{name}` is not UTF-8",
        span=_span(data, name, fault.start, 1),
        label=f"byte 0x{data[fault.start]:02x} does not belong here",
        help=_SAVE,
    )


def _span(data: bytes, name: str, offset: int, width: int) -> Span:
    """The place of a byte, in a text where every wrong byte is shown as U+FFFD."""
    before = (
        data[:offset]
        .decode("utf-8-sig", "replace")
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )
    text = (
        data[: offset + 4096]
        .decode("utf-8-sig", "replace")
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return Span(
        SourceFile(name, text.replace("\0", "\ufffd")),
        line,
        column,
        line,
        column + width,
    )
