"""Replaces a folder as a whole: lock, staging folder, exchange, recovery.

A kill at any point leaves the whole old or the whole new tree. Linux exchanges two folders in one step
(renameat2(2), RENAME_EXCHANGE, kernel 3.15); elsewhere two renames do it, and the next run
repairs a kill between them. Nothing is synced to the disk, as git syncs nothing that it checks out: after a loss of
power the tree is made again, or restored from git, and a sync for each file takes ten times as long as the files.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_AT_FDCWD = -100  # linux/fcntl.h
_RENAME_EXCHANGE = 2  # linux/fs.h
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
_NO_LINK = (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's advisory lock; ``BlockingIOError`` if another process holds it.

    The lock is on the folder itself, so no file is left over, and the kernel drops it with the process.
    """
    import fcntl

    flags = os.O_RDONLY | os.O_DIRECTORY
    handle = os.open(folder, flags)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def staging(root: Path) -> tuple[Path, Path]:
    """The hidden siblings used while ``root`` is replaced: the new tree, the old tree."""
    return (
        root.parent / f".{root.name}.trainyard-new",
        root.parent / f".{root.name}.trainyard-old",
    )


def recover(root: Path) -> None:
    """Undo what a killed run left behind. Call with the lock held."""
    new, old = staging(root)
    stands = os.path.lexists(root)
    if not stands and os.path.lexists(old):
        os.rename(old, root)  # killed between two renames
    for leftover in (new, old):
        if os.path.lexists(leftover):
            shutil.rmtree(leftover)


def replace(root: Path, files: Mapping[str, bytes], keep: Iterable[str]) -> None:
    """Make ``root`` hold ``files`` and, untouched, what is at the paths of ``keep``. Raises ``OSError``.

    Call with the lock held and after ``recover``.
    """
    new, _ = staging(root)
    _check_writable(root)
    try:
        _stage(root, new, files, keep)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        raise
    swap(root, new)


def _check_writable(root: Path) -> None:
    """A folder that may not be written stays as it is; without this only its parent's mode would count."""
    for folder, _, _ in os.walk(root):
        if not os.access(folder, os.W_OK | os.X_OK):
            reason = os.strerror(errno.EACCES)
            raise PermissionError(errno.EACCES, reason, folder)


def _stage(root: Path, new: Path, files: Mapping[str, bytes], keep: Iterable[str]) -> None:
    untouched = list(keep)
    folders: set[str] = set()
    for path in (*files, *untouched):
        folders.update(map(str, Path(path).parents))
    folders.discard(".")
    os.mkdir(new)
    for folder in sorted(folders):
        os.mkdir(new / folder)
    for path in untouched:
        _link(root / path, new / path)
    for path, data in files.items():
        _write(new / path, data)
    for folder in sorted(folders, reverse=True):
        _copy_mode(root / folder, new / folder)
    _copy_mode(root, new)


def _link(source: Path, target: Path) -> None:
    """The same file under a second name, so that its content, mode and times stay; a copy where that cannot be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as fault:
        if fault.errno not in _NO_LINK:
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def _write(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    handle = os.open(path, flags, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
    finally:
        os.close(handle)


def _copy_mode(old: Path, new: Path) -> None:
    try:
        before = os.lstat(old)
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISDIR(before.st_mode):
        os.chmod(new, stat.S_IMODE(before.st_mode))


def swap(root: Path, new: Path) -> None:
    """Put ``new`` in the place of ``root`` and remove the old tree."""
    if not os.path.lexists(root):
        os.rename(new, root)
        return
    if exchange(root, new):
        shutil.rmtree(new, ignore_errors=True)  # what stays is removed by the next run
        return
    _, old = staging(root)
    os.rename(root, old)
    try:
        os.rename(new, root)
    except OSError:
        os.rename(old, root)
        raise
    shutil.rmtree(old, ignore_errors=True)


def exchange(first: Path, second: Path) -> bool:
    """Exchange two paths in one step; false where the system or file system cannot."""
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    failed = renameat2(
        _AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE
    )
    if not failed:
        return True
    code = ctypes.get_errno()
    if code in _NO_EXCHANGE:
        return False
    raise OSError(code, os.strerror(code), str(first))
