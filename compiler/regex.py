"""Regular expressions that are compiled when they are first used: a run uses half of those that its modules define,
and to compile the others took 2 % of a ``check``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, AnyStr, cast

_compile_now = re.compile


class _Pattern:
    """Stands for a ``re.Pattern``, and has its methods from the first use on."""

    def __init__(self, text: Any, flags: int = 0) -> None:
        self._source = (text, flags)
        self.pattern = text

    def __getattr__(self, name: str) -> Any:
        compiled = _compile_now(*self._source)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub")


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The expression, as ``re.compile`` gives it. One that is malformed raises ``re.error`` when it is first used."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


@contextmanager
def compiled_at_first_use() -> Iterator[None]:
    """What is imported within gets such expressions from ``re.compile``. One thread at a time."""
    re.compile = _Pattern  # type: ignore[assignment]
    try:
        yield
    finally:
        re.compile = _compile_now
