"""``fmt``: find or rename former keys in specs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from compiler.cli.exits import CLEAN, FINDINGS, USAGE
from compiler.cli.streams import UsageError, err, out
from compiler.language.renaming import API, UnreadableError, rename
from compiler.source.read import is_yaml, read


def fmt(paths: Iterable[str], *, fix: bool) -> int:
    """Name the keys that had another name before; ``fix`` renames them in the files."""
    keys = files = unreadable = 0
    for path in _files(paths):
        file, faults = read(path)
        if file is None:
            err("".join(f"{path}: {fault.message}\n" for fault in faults))
            unreadable += 1
            continue
        if API not in file.text:
            continue
        try:
            text, found = rename(file.text)
        except UnreadableError:
            err(f"{path}: not YAML: `trainyard check` says where\n")
            unreadable += 1
            continue
        if not found:
            continue
        files += 1
        keys += len(found)
        for each in found:
            out(f"{path}:{each.line}:{each.column}: `{each.former}` is called `{each.name}`\n")
        if fix:
            _write_over(path, text)
    _summarise(keys, files, fix)
    if unreadable:
        return USAGE
    return FINDINGS if keys and not fix else CLEAN


def _files(paths: Iterable[str]) -> Iterator[str]:
    """The YAML files at and below paths, each once."""
    for given in paths:
        if os.path.isfile(given):
            yield given
        elif os.path.isdir(given):
            for folder, folders, names in os.walk(given):
                folders.sort()
                yield from (os.path.join(folder, name) for name in sorted(names) if is_yaml(name))
        else:
            raise UsageError(f"`{given}` is no file and no folder")


def _summarise(keys: int, files: int, fix: bool) -> None:
    if not keys:
        out("every key has its name\n")
    elif fix:
        out(f"renamed {keys} keys in {files} files\n")
    else:
        out(f"{keys} keys in {files} files: `trainyard fmt --fix` renames them\n")


def _write_over(path: str, text: str) -> None:
    """Replace the text of a file at once, with the line ends, the byte order mark and the mode that it has."""
    target = Path(os.path.realpath(path))
    try:
        before = target.read_bytes()
        if b"\r\n" in before:
            text = text.replace("\n", "\r\n")
        encoding = "utf-8-sig" if before.startswith(b"\xef\xbb\xbf") else "utf-8"
        handle, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode(encoding))
        shutil.copymode(target, made)
        os.replace(made, target)
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise UsageError(f"cannot write `{path}`: {reason}") from None
