"""What an edit of a task means."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.fields import Steps


def _file(edit: Edit, steps: Steps) -> Effect | None:
    return Effect(Consequence.ENDS_JOBS, "whoever keeps the machines starts it again")


KINDS: Mapping[str, Judge] = {"rack": _file}
