"""What the plan has of a job whose activations and time are computed."""

from __future__ import annotations

from typing import ClassVar

from trainyard.core.jobs.plan import TrainingState
from trainyard.extensions.forecast.training.run import Run
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun(TrainingState):
    """A job's model in training, with activations and time: its spec has the shape of the model and its batch.

    ``smaller``: the smallest change with which it fits, where it may not.
    """

    carried: ClassVar[bool] = False

    run: Run
    smaller: str = ""
