"""Renders pages and scripts from the templates of the feature that writes them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def rendered(package: str, name: str, **values: Any) -> str:
    """A template of the folder ``templates`` of a package with these values; one that it has not is an error."""
    template = _environment(package).get_template(name)
    text: str = template.render(**values)
    return text


_SHARED = "trainyard.output.lowering"
"""The package whose templates those of others may include."""


@cache
def _environment(package: str) -> Any:
    import jinja2

    folder = _kept_in(package)
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(name, "templates") for name in (package, _SHARED)]
        ),
        bytecode_cache=_cache(folder) if folder else None,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # Markdown, shell and styles have values as they are.
        autoescape=jinja2.select_autoescape(("html",), default=False),
    )


def _cache(folder: str) -> Any:
    """Jinja's cache of code; a full disk costs what is kept, and not the run."""
    import jinja2

    class Cache(jinja2.FileSystemBytecodeCache):
        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    return Cache(folder)


def _kept_in(package: str) -> str:
    """Where the code of templates is kept, as Python keeps that of modules, unless it may not: to compile them took
    longer than all else that an unchanged ``compile`` adds to a ``check``. Jinja keeps it by the source of each."""
    module = Path(str(import_module(package).__file__))
    templates = module.with_name("templates")
    if sys.dont_write_bytecode or not os.access(templates, os.W_OK):
        return ""
    folder = templates / "__pycache__"
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return ""
    return str(folder)
