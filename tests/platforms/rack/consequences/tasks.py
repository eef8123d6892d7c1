"""What an edit of a task means."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.output.fields import Steps
from trainyard.run.edits.change import Consequence, Effect
from trainyard.run.edits.edit import Edit
from trainyard.run.edits.judge import Judge


def _file(edit: Edit, steps: Steps) -> Effect | None:
    return Effect(Consequence.ENDS_JOBS, "whoever keeps the machines starts it again")


KINDS: Mapping[str, Judge] = {"rack": _file}
