"""What an edit of a task means."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.edits.change import Consequence, Effect
from compiler.edits.edit import Edit
from compiler.edits.judge import Judge
from compiler.output.fields import Steps


def _file(edit: Edit, steps: Steps) -> Effect | None:
    return Effect(Consequence.ENDS_JOBS, "whoever keeps the machines starts it again")


KINDS: Mapping[str, Judge] = {"rack": _file}
