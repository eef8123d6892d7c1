"""Loads the modules that rules are in."""

from __future__ import annotations

import os
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any


def module_of(path: str) -> str:
    """The name of a rule's module."""
    folder, name = path.rsplit(os.sep, 2)[-2:]
    return f"trainyard_policies.{folder}.{name.removesuffix('.py')}"


def code_of(path: str, module: str) -> CodeType:
    """The code of a file, which Python caches. Raises what an import would."""
    code = SourceFileLoader(module, path).get_code(module)
    assert code is not None, "a loader of sources has code"
    return code


_PURE = frozenset(
    (
        *("__future__", "abc", "collections", "dataclasses", "decimal", "enum"),
        *("fnmatch", "fractions", "functools", "ipaddress", "itertools", "json", "math"),
        *("operator", "re", "statistics", "string", "textwrap", "trainyard", "typing"),
    )
)
"""Modules that read no file, no clock and no network; what those of the compiler read is noted."""
_READING = frozenset(("__import__", "breakpoint", "compile", "eval", "exec", "input", "open"))


def may_read(source: bytes) -> bool:
    """Whether a rule may read what it is not given: it imports more than it takes to judge, or opens a file. What it
    says may then change without anything that is known to have been read."""
    import ast  # for users' rules alone

    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False  # that is reported, and the file is not run
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Name) and node.id in _READING:
            return True
        if any(name.partition(".")[0] not in _PURE for name in names):
            return True
    return False


def run_module(path: str) -> dict[str, Any]:
    """What the module of a rule defines, by name."""
    name = module_of(path)
    code = code_of(path, name)
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(code, module.__dict__)  # noqa: S102  # the point of the exercise
    return module.__dict__
