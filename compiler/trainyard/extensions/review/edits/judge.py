"""Who says what an edit means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from trainyard.extensions.forecast.change import Consequence, Effect
from trainyard.extensions.review.edits.causes import keys
from trainyard.extensions.review.edits.edit import Edit
from trainyard.output.body import value_at
from trainyard.output.fields import Steps

Judge: TypeAlias = Callable[[Edit, Steps], Effect | None]
"""What a change of a field means, or, of a thing that is added or removed, the whole of it (no steps); ``None`` where
the kind has nothing to say of its own."""


def key_of_spec(steps: Steps) -> str:
    """The key of ``spec`` that a path leads into; empty for ``spec`` as a whole, and for what is elsewhere."""
    if len(steps) < 2 or steps[0] != "spec":
        return ""
    return str(steps[1])


def of_expiry(edit: Edit, steps: Steps, source: str) -> Effect:
    """What it means that something is deleted after another time, or by another rule."""
    if _grows(edit, steps):
        return Effect(Consequence.COST, "it is kept for longer", source)
    return Effect(Consequence.DESTROYS_DATA, "what is older than it says is deleted", source)


def _grows(edit: Edit, steps: Steps) -> bool:
    """Whether a number becomes larger."""
    before = value_at(edit.old, *keys(edit.old, steps))
    after = value_at(edit.new, *keys(edit.new, steps))
    return isinstance(before, int) and isinstance(after, int) and after > before
