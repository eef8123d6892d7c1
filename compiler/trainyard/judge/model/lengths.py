"""How long each job runs, and how it goes on after it was stopped, as far as that is known."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.core.jobs.length import Basis, Length
from trainyard.core.jobs.plan import CheckpointSchedule, ExpectedLength, TrainingState
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work


def lengths(reading: Reading) -> Mapping[tuple[str, str], Length]:
    """The length of each job, by its namespace and the name of its object.

    The spec's ``expected`` comes first, then the time that the arithmetic of training computes for all of its tokens,
    then its timeout, which is also the most that both others may be.
    """
    plan = reading.plan
    expected = {(each.namespace, each.name): each for each in plan.of(ExpectedLength)}
    states = {(each.namespace, each.name): each for each in plan.of(TrainingState)}
    schedules = {(each.namespace, each.name): each for each in plan.of(CheckpointSchedule)}
    found = {}
    for work in reading.works:
        spec_key = work.namespace, work.job.identity.name
        found[work.namespace, work.name] = _length(
            work, expected.get(spec_key), states.get(spec_key), schedules.get(spec_key)
        )
    return found


def _length(
    work: Work,
    expected: ExpectedLength | None,
    state: TrainingState | None,
    schedule: CheckpointSchedule | None,
) -> Length:
    limit = work.job.deadline
    if expected is not None:
        seconds = _limited(expected.seconds, limit)
        return Length(Basis.EXPECTED, seconds, seconds, schedule, expected.where("seconds"))
    if state is not None and state.seconds is not None:
        least, most = state.seconds
        return Length(Basis.ESTIMATE, _limited(most, limit), _limited(least, limit), schedule)
    if limit is not None:
        return Length(Basis.TIMEOUT, limit, None, schedule)
    return Length(Basis.UNKNOWN, schedule=schedule)


def _limited(seconds: int, limit: int | None) -> int:
    return seconds if limit is None else min(seconds, limit)
