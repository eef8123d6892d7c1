"""A module of the standard library that is loaded when it is asked for something.

pydantic imports ``importlib.metadata`` to search for plugins, with ``email`` and ``socket`` behind it, and does so
where plugins are disabled too (pydantic 2.12, ``plugin/_loader.py``): 3 % of a ``check``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_NAME = "importlib.metadata"


class _Deferred(ModuleType):
    """Stands for ``importlib.metadata``, which the first call or other use loads."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_loaded(self), name)

    def entry_points(self, **criteria: Any) -> Any:
        """As the module has it."""
        return _loaded(self).entry_points(**criteria)


def _loaded(stand_in: ModuleType) -> Any:
    if sys.modules.get(_NAME) is stand_in:
        del sys.modules[_NAME]
    return import_module(_NAME)


def defer_search() -> None:
    """Have ``importlib.metadata`` loaded when somebody calls it, not when somebody imports it."""
    if _NAME in sys.modules:
        return
    module = find_spec(_NAME)
    if module is None:
        return
    stand_in = _Deferred(_NAME)
    stand_in.__path__ = list(module.submodule_search_locations or ())
    sys.modules[_NAME] = stand_in
