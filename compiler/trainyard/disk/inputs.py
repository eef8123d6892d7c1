"""The only module through which the passes read the disk; it records what they saw.

A run repeats the output of an earlier run with the same inputs (``cli/repeat.py``): where every file that was
read, every folder that was listed, and whatever was asked of a path is as it was. So the passes read by these
functions alone, and each answer is noted. What belongs to the package is not noted: the compiler as a whole has a
digest (``cache.py``).

A run that is known imports this module and little else, so it uses the smallest modules of the standard library.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator

try:
    from _blake2 import (
        blake2b,  # a third of the start of such a run would go to `hashlib`, for OpenSSL
    )
except ImportError:
    from hashlib import blake2b

MAX_BYTES = 64 << 20
"""Largest file read, in bytes: twelve times a spec of 10,000 jobs."""
_HANDED = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts what it opened for a command, like `<(helm template …)`; some writer is at the other end."""
_SETTLED = 2_000_000_000
"""Nanoseconds after which an edit is sure to change a file's times: FAT counts two seconds."""

Path = str | os.PathLike[str]
Signature = list[int] | None
"""What changes when a file does: times, size and inode. ``None`` where they might stay as they are: the file had been
touched just before it was read, so that another edit may have the same time (git calls these racy)."""
Seen = tuple[str, str, str, Signature]
"""What was looked for (``FILE``, ``FOLDER``, ``KIND``, ``REAL``), the path, the answer, and the signature with it."""

FILE, FOLDER, KIND, REAL = "file", "folder", "kind", "real"


class Record:
    """What was seen of the disk. ``whole``: whether that is all, so that a later run can be held against it."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, str], tuple[str, Signature]] = {}
        self.whole = True

    def note(self, what: str, path: str, answer: str, signature: Signature) -> None:
        """Note an answer. What is seen twice and has changed in between is no input of a run that can be repeated."""
        known = self.seen.setdefault((what, path), (answer, signature))
        if known[0] != answer:
            self.whole = False

    def add(self, other: Record) -> None:
        """Note all that another record has."""
        for (what, path), (answer, signature) in other.seen.items():
            self.note(what, path, answer, signature)
        self.whole = self.whole and other.whole

    def items(self) -> list[Seen]:
        """All that was seen, in the order in which it was."""
        return [(*key, *value) for key, value in self.seen.items()]

    def digest(self) -> str:
        """One digest of all answers."""
        answers = [f"{what} {path} {answer}" for what, path, answer, _ in self.items()]
        return digest("\n".join(answers).encode(errors="surrogatepass"))


_open: list[Record] = []
"""The records that are being written, the innermost last."""


class recording:  # noqa: N801 - a context, like `contextlib.suppress`, which would have to be imported
    """A context that records what is seen of the disk, in its own record and in those around it."""

    def __init__(self) -> None:
        self.record = Record()

    def __enter__(self) -> Record:
        _open.append(self.record)
        return self.record

    def __exit__(self, *_: object) -> None:
        _open.remove(self.record)
        if _open:
            _open[-1].add(self.record)


def seen_before(items: Iterable[Seen], *, whole: bool = True) -> None:
    """Note what another run saw, or a copy of this process."""
    if _open:
        _open[-1].whole = _open[-1].whole and whole
        for what, path, answer, signature in items:
            _open[-1].note(what, path, answer, signature)


def cannot_repeat() -> None:
    """Say that this run can not be held against a later one: it read what can be read once, or wrote what it read."""
    if _open:
        _open[-1].whole = False


def digest(data: bytes) -> str:
    """The digest of some bytes."""
    return blake2b(data, digest_size=16).hexdigest()


def signature(status: os.stat_result) -> Signature:
    """What changes when a file does, unless it was touched just now."""
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    if newest > time.time_ns() - _SETTLED:
        return None
    return _times(status)


def _times(status: os.stat_result) -> list[int]:
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]


# -- what the passes ask


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file, at most ``MAX_BYTES`` and one. Anything else is an ``OSError``: to open a pipe would
    wait for its writer, and a device may never end."""
    try:
        status = os.stat(path)
        data = _bytes_of(path, status)
    except OSError as fault:
        if _open:
            _note_unread(os.fspath(path), fault)
        raise
    if _open:
        name = os.fspath(path)
        if stat.S_ISREG(status.st_mode):
            _open[-1].note(FILE, name, digest(data), signature(status))
        else:
            cannot_repeat()
    return data


def _note_unread(path: str, fault: OSError) -> None:
    """A file that is not there may come; one that may not be read is no input that can be compared."""
    if isinstance(fault, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        _open[-1].note(KIND, path, _kind(path), None)
    else:
        cannot_repeat()


def _bytes_of(path: Path, status: os.stat_result) -> bytes:
    is_regular = stat.S_ISREG(status.st_mode)
    name = os.fspath(path)
    if not is_regular and not is_handed(name):
        is_folder = stat.S_ISDIR(status.st_mode)
        if is_folder:
            number = errno.EISDIR
        else:
            number = errno.EINVAL
        reason = f"it is {_named(status.st_mode)}, and only regular files are read"
        raise OSError(number, reason, name)
    if is_regular and status.st_size <= MAX_BYTES:
        data = _at_once(path, status.st_size)
        if len(data) == status.st_size:
            return data
    with open(path, "rb", buffering=0) as handle:
        return _bounded(handle.read)


def is_handed(path: Path) -> bool:
    """Whether a shell opened it for this command; what lies beside it is not its folder."""
    return os.fspath(path).startswith(_HANDED)


def read_stdin() -> bytes:
    """Standard input to its end, at most ``MAX_BYTES`` and one."""
    cannot_repeat()
    with open(0, "rb", buffering=0, closefd=False) as handle:
        return _bounded(handle.read)


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """The entries of a folder, by name."""
    try:
        status = os.stat(folder)
        found = _listed(folder)
    except OSError as fault:
        if _open:
            _note_unread(os.fspath(folder), fault)
        raise
    if _open:
        answer, has_links = _listing(found)
        # What a link leads to may change without the folder.
        times = None if has_links else signature(status)
        _open[-1].note(FOLDER, os.fspath(folder), answer, times)
    return found


def holds_others(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder; links are followed, and one that leads to itself is none."""
    return _leads(entry.is_dir)


def holds_text(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a regular file; links are followed, and one that leads to itself is none."""
    return _leads(entry.is_file)


def _leads(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            return False
        raise


def walk(
    folder: str, onerror: Callable[[OSError], None] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """As ``os.walk`` does: each folder, the names of those in it, which may be changed, and of what else is there."""
    try:
        found = entries(folder)
    except OSError as fault:
        if onerror is not None:
            onerror(fault)
        return
    folders, names, links = [], [], set()
    for entry in found:
        if not holds_others(entry):
            names.append(entry.name)
            continue
        folders.append(entry.name)
        if entry.is_symlink():
            links.add(entry.name)
    yield folder, folders, names
    for name in folders:
        if name not in links:
            yield from walk(os.path.join(folder, name), onerror)


def with_file(folder: Path, name: str) -> list[str]:
    """The folders in a folder that hold a file or folder of a name, by name; none where there is no folder."""
    try:
        found = entries(folder)
    except OSError:
        return []
    folders = [os.path.join(folder, entry.name) for entry in found if holds_others(entry)]
    return [path for path in folders if exists(os.path.join(path, name))]


def exists(path: Path) -> bool:
    """Whether a path exists; links are followed."""
    return kind(path) not in ("", "link")


def stands(path: Path) -> bool:
    """Whether a path exists; a broken link counts."""
    return kind(path) != ""


def is_file(path: Path) -> bool:
    """Whether a path is a regular file; links are followed."""
    return kind(path).endswith("file")


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; links are followed."""
    return kind(path).endswith("folder")


def is_link(path: Path) -> bool:
    """Whether a path is a symbolic link."""
    return kind(path).startswith("link")


def is_readable(path: Path) -> bool:
    """Whether this process may read a path."""
    if os.access(path, os.R_OK):
        return True
    if kind(path):
        cannot_repeat()
    return False


def kind(path: Path) -> str:
    """What stands at a path: ``file``, ``folder``, ``other`` or nothing, with ``link `` before it where a link leads
    to it."""
    answer = _kind(path)
    if _open:
        _open[-1].note(KIND, os.fspath(path), answer, None)
    return answer


def real_path(path: Path) -> str:
    """The path without any links; itself, where it has a character that no path has."""
    try:
        answer = os.path.realpath(path)
    except ValueError:
        answer = os.fspath(path)
    if _open:
        _open[-1].note(REAL, os.fspath(path), answer, None)
    return answer


# -- whether it is still so


def unchanged(items: list[Seen]) -> list[Seen] | None:
    """The same answers with the signatures that they have now, if all are as they were; else ``None``."""
    folders: dict[str, str] = {}
    now = []
    for item in items:
        what, path, answer, times = item
        try:
            if what == FILE:
                new = _file_now(path, answer, times)
            elif what == FOLDER:
                new = _folder_now(path, answer, times)
            elif what == KIND:
                new = None if _kind(path) == answer else _OTHER
            else:
                new = None if _real_now(path, folders) == answer else _OTHER
        except (OSError, ValueError):
            return None
        if new is _OTHER:
            return None
        now.append(item if new == times else (what, path, answer, new))
    return now


_OTHER = [-1]
"""In the place of a signature: it is not as it was."""


def _file_now(path: str, answer: str, times: Signature) -> Signature:
    status = os.stat(path)
    if times is not None and _times(status) == times:
        return times
    if not stat.S_ISREG(status.st_mode):
        return _OTHER
    now = digest(_bytes_of(path, status))
    return signature(status) if now == answer else _OTHER


def _folder_now(path: str, answer: str, times: Signature) -> Signature:
    status = os.stat(path)
    if times is not None and _times(status) == times:
        return times
    now, has_links = _listing(_listed(path))
    if now != answer:
        return _OTHER
    return None if has_links else signature(status)


def _real_now(path: str, folders: dict[str, str]) -> str:
    """``os.path.realpath``, which looks at each folder above once for all paths."""
    if ".." in path:
        return os.path.realpath(path)
    whole = os.path.abspath(path)
    folder, name = os.path.split(whole)
    if not name or os.path.islink(whole):
        return os.path.realpath(whole)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)


# -- looking


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _listing(found: list[os.DirEntry[str]]) -> tuple[str, bool]:
    """A digest of names and kinds, and whether there are links among them. Where Python keeps its code is left out: it
    is there once a rule was run."""
    lines = []
    has_links = False
    for entry in found:
        if entry.name == "__pycache__":
            continue
        if entry.is_symlink():
            has_links = True
            word = "link folder" if holds_others(entry) else f"link {holds_text(entry)}"
        elif entry.is_dir():
            word = "folder"
        else:
            word = str(entry.is_file())
        lines.append(f"{word} {entry.name}")
    return digest("\0".join(lines).encode(errors="surrogatepass")), has_links


def _kind(path: Path) -> str:
    try:
        own = os.lstat(path)
    except (OSError, ValueError):
        return ""
    if not stat.S_ISLNK(own.st_mode):
        return _word(own.st_mode)
    try:
        return f"link {_word(os.stat(path).st_mode)}"
    except OSError:
        return "link"


def _word(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


def _at_once(path: Path, size: int) -> bytes:
    """The first bytes of a file: all of them and no more, if it has the size that it had. A set has thousands of files,
    and an object for each takes as long as to read it."""
    binary = getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, os.O_RDONLY | binary)
    try:
        return os.read(descriptor, size + 1)
    finally:
        os.close(descriptor)


def _named(mode: int) -> str:
    """The kind of a path that is no regular file."""
    for is_kind, words in _KINDS:
        if is_kind(mode):
            return words
    return "no file"


_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a directory"),
)


def _bounded(read: Callable[[int], bytes | None]) -> bytes:
    """All of a stream up to one byte more than is taken: it may have no end."""
    data = bytearray()
    while len(data) <= MAX_BYTES:
        chunk = read(1 << 20)
        if not chunk:
            break
        data += chunk
    return bytes(data)
