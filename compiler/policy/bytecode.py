"""The code of all built-in rules in one file, without their pages: to ask Python for that of each module took 4 % of a
``check``, and most of what it read was pages, which ``explain`` alone shows.

The file lies in ``__pycache__`` of the rules' folder, as the code of each module would, and is trusted like it. An
entry holds for as long as its rule has the same size and time of change.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

Entry = tuple[int, int, CodeType]
"""Nanoseconds of the last change, size in bytes, and the code."""


def compiled(folder: Path, paths: Sequence[Path]) -> dict[Path, CodeType]:
    """The code of files of a folder, as far as it is kept; what is not is compiled and kept where that is allowed."""
    cache = folder / "__pycache__"
    file = cache / f"rules.{sys.implementation.cache_tag}"
    kept = _read(file)
    keeps = not sys.dont_write_bytecode and os.access(folder, os.W_OK)
    entries: dict[str, Entry] = {}
    for path in paths:
        entry = _entry(str(path), kept, keeps=keeps)
        if entry is not None:
            entries[str(path)] = entry
    if keeps and entries != kept:
        _write(file, entries)
    return {Path(name): code for name, (_, _, code) in entries.items()}


def module_of(path: Path) -> str:
    """The name of a rule's module."""
    return f"trainyard_policies.{path.parent.name}.{path.stem}"


def code_of(path: Path) -> CodeType:
    """The code of a file, which Python keeps beside it. Raises what an import would."""
    name = module_of(path)
    code = SourceFileLoader(name, str(path)).get_code(name)
    assert code is not None, "a loader of sources has code"
    return code


def _entry(path: str, kept: Mapping[str, Entry], *, keeps: bool) -> Entry | None:
    """What is kept of a file, or made now; nothing of one that cannot be read or compiled."""
    entry = kept.get(path)
    try:
        found = os.stat(path)
        if entry is not None and entry[:2] == (found.st_mtime_ns, found.st_size):
            return entry
        return (found.st_mtime_ns, found.st_size, _compile(path)) if keeps else None
    except (OSError, SyntaxError, ValueError):
        return None


def _compile(path: str) -> CodeType:
    """The code of a file without the docstrings of its functions."""
    import ast  # never where all is kept

    tree = ast.parse(Path(path).read_bytes(), path)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.copy_location(ast.Pass(), node.body[0])
    return compile(tree, path, "exec", dont_inherit=True)


def _read(file: Path) -> Mapping[str, Entry]:
    """What was kept by this very Python; nothing where the file is absent or of another one."""
    try:
        data = file.read_bytes()
        if data[: len(MAGIC_NUMBER)] != MAGIC_NUMBER:
            return {}
        kept: Any = marshal.loads(data[len(MAGIC_NUMBER) :])  # noqa: S302  # as Python reads its own
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(file: Path, entries: Mapping[str, Entry]) -> None:
    """Keep it for the next run, whole or not at all."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(exist_ok=True)
        part.write_bytes(MAGIC_NUMBER + marshal.dumps(dict(entries)))
        os.replace(part, file)
    except OSError:
        part.unlink(missing_ok=True)


def page_of(file: str, function: str) -> str:
    """The docstring of a function of a file, from the code that Python keeps of it; empty without one."""
    for value in code_of(Path(file)).co_consts:
        if isinstance(value, CodeType) and value.co_name == function:
            return FunctionType(value, {}).__doc__ or ""
    return ""
