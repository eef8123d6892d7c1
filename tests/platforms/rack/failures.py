"""What becomes of jobs when something fails: somebody starts them again."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome, restarted
from trainyard.extensions.forecast.failures.parts import Part, started
from trainyard.extensions.forecast.planned import PlannedCluster


def outcomes(planned: PlannedCluster, job: Footing) -> Iterator[Outcome]:
    """The loss of a machine."""
    wait = Part("notice", 0, None, "until somebody looks")
    yield restarted(
        Outcome(
            failure=Failure.NODE,
            job=job,
            notices="somebody",
            acts="starts it again",
            parts=(wait, started()),
        )
    )
