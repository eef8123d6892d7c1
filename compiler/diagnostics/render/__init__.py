"""Output formats. Each module here is one format: ``render(diagnostics, *, tool_version, ...) -> str``."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.order import sort, summary

FORMATS: tuple[str, ...] = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))
"""Names of all formats: the modules of this folder."""

__all__ = ["FORMATS", "render", "sort", "summary"]


def render(format: str, diagnostics: Sequence[Diagnostic], *, tool_version: str, color: bool = False) -> str:
    """The diagnostics, sorted and without duplicates, in one of ``FORMATS``. Ends with a newline unless empty.

    ``color`` is for people at a terminal; only ``text`` heeds it.
    """
    module = import_module(f"{__name__}.{format}")
    text: str = module.render(sort(diagnostics), tool_version=tool_version, color=color)
    return text
