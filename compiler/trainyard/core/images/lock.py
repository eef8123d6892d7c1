"""The lock of an image: the file in which its build keeps the digest that jobs run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainyard.language.places import Route
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.core.images import spec as forms

_LINES = {"digest": r"sha256:[0-9a-f]{64}", "recipe": r"[0-9a-f]{12}"}


def locked(context: Context, spec: forms.Image, at: Route) -> tuple[str | None, str | None]:
    """The digest of the last build that is committed, and the recipe that it was built of; ``None`` before the first.

    The file has a line ``digest: sha256:…`` and a line ``recipe: …``, and comments.
    """
    text = context.texts.get(at / "lock")
    if text is None or not text.there:
        return None, None
    values: dict[str, str] = {}
    for number, line in enumerate(text.lines):
        if not line.strip() or line.startswith("#"):
            continue
        key, _, value = line.partition(": ")
        pattern = _LINES.get(key, r"\b\B")
        if not re.fullmatch(pattern, value) or key in values:
            _unreadable(context, spec, at / "lock" / number, f"`{line[:80]}` is no line of it")
            return None, None
        values[key] = value
    if len(values) < len(_LINES):
        lacking = next(key for key in _LINES if key not in values)
        _unreadable(context, spec, at / "lock" / 0, f"it has no line `{lacking}: …`")
        return None, None
    return values["digest"], values["recipe"]


def _unreadable(context: Context, spec: forms.Image, at: Route, why: str) -> None:
    context.fault(
        "RES148",
        f"the lock of image `{spec.name}` cannot be read: {why}",
        at,
        "build the image again, or take back the last change of the file: the build writes it",
    )
