"""``fmt``: find or rename former keys in specs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainyard.cli.exits import CLEAN, FINDINGS, USAGE
from trainyard.cli.streams import UsageError, print_err, print_out, write_over
from trainyard.extensions.authoring.renaming import API, UnreadableError, rename
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.words import numbered
from trainyard.language.source.assemble import spec_files
from trainyard.language.source.read import read


def fmt(paths: Iterable[str], *, fix: bool) -> int:
    """Name the keys that had another name before; ``fix`` renames them in the files."""
    faults: list[Diagnostic] = []
    keys = files = unreadable = 0
    for path in _files(paths, faults):
        file, unread = read(path)
        if file is None:
            faults += unread
            continue
        if API not in file.text:
            continue
        try:
            text, found = rename(file.text)
        except UnreadableError:
            print_err(f"{path}: not YAML: `trainyard check` says where\n")
            unreadable += 1
            continue
        if not found:
            continue
        files += 1
        keys += len(found)
        for each in found:
            print_out(
                f"{path}:{each.line}:{each.column}: `{each.former}` is called `{each.name}`\n"
            )
        if fix:
            _write_over(path, text)
    for fault in faults:
        print_err(f"{fault.message}\n")
    failed = bool(faults or unreadable)
    if keys or not failed:
        _summarise(keys, files, fix)
    if failed:
        return USAGE
    return FINDINGS if keys and not fix else CLEAN


def _files(paths: Iterable[str], faults: list[Diagnostic]) -> Iterator[str]:
    """The given files, and those of given folders that ``check`` would read as specs."""
    for given in paths:
        if os.path.isfile(given):
            yield given
        elif os.path.isdir(given):
            yield from spec_files(given, faults)
        else:
            raise UsageError(f"`{given}` is no file and no folder")


def _summarise(keys: int, files: int, fix: bool) -> None:
    found = f"{numbered(keys, 'key')} in {numbered(files, 'file')}"
    if not keys:
        print_out("every key has its name\n")
    elif fix:
        print_out(f"renamed {found}\n")
    else:
        print_out(f"{found}: `trainyard fmt --fix` renames {'it' if keys == 1 else 'them'}\n")


def _write_over(path: str, text: str) -> None:
    """Replace the text of a file at once; its line ends, byte order mark and mode stay."""
    target = Path(os.path.realpath(path))
    try:
        before = target.read_bytes()
        if b"\r\n" in before:
            text = text.replace("\n", "\r\n")
        encoding = "utf-8-sig" if before.startswith(b"\xef\xbb\xbf") else "utf-8"
        write_over(target, text.encode(encoding))
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise UsageError(f"cannot write `{path}`: {reason}") from None
