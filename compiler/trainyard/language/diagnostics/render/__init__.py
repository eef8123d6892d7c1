"""Output formats. Each module here is one format: ``render(diagnostics, *, tool_version, ...) -> str``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from trainyard.language.diagnostics.diagnostic import Diagnostic
from trainyard.language.diagnostics.order import sort, summary
from trainyard.language.diagnostics.pages import Page
from trainyard.language.diagnostics.sealed import hidden
from trainyard.language.diagnostics.secrets import masked

FORMATS: tuple[str, ...] = tuple(
    sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
)
"""Names of all formats: the modules of this folder."""

_SHOWN = 24
_LONG = re.compile(r"\d{100,}|[^\s`]{2000,}")
"""What nobody reads to its end: numbers and words longer than any id, digest or address."""

__all__ = ["FORMATS", "render", "sort", "summary"]


def render(
    format: str,
    diagnostics: Sequence[Diagnostic],
    *,
    tool_version: str,
    color: bool = False,
    **more: Mapping[str, Page],
) -> str:
    """The diagnostics, sorted and without duplicates, in one of ``FORMATS``. Ends with a newline unless empty.

    ``color`` is for people at a terminal; only ``text`` uses it. ``more`` is what one format takes besides:
    ``pages``, the page of each code, goes into ``sarif``. Secrets are hidden, whatever names them.
    """
    module = import_module(f"{__name__}.{format}")
    shown = [_without_secrets(item) for item in sort(diagnostics)]
    text: str = module.render(shown, tool_version=tool_version, color=color, **more)
    return text


def _without_secrets(item: Diagnostic) -> Diagnostic:
    texts = {span.file.text for span, _ in item.related}
    if item.span is not None:
        texts.add(item.span.file.text)

    def shown(said: str) -> str:
        for text in texts:
            said = hidden(said, text)
        return _LONG.sub(lambda long: f"{long[0][:_SHOWN]}…", masked(said))

    return replace(
        item,
        message=shown(item.message),
        label=shown(item.label),
        help=shown(item.help),
        notes=tuple(map(shown, item.notes)),
        related=tuple((span, shown(label)) for span, label in item.related),
    )
