"""What a job is expected to lose in a week in which it runs all the time, by published failure rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.outcome import Failure, Outcome
from trainyard.extensions.forecast.failures.parts import Span
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.language.dataclass import dataclass

WEEK = 7 * 24 * 3600
FORMULA = "Young 1974, doi:10.1145/361147.361115; Daly 2006, doi:10.1016/j.future.2004.11.016"


class Rate(NamedTuple):
    """How many failures of any of its nodes a job has in a week, and by what that is known."""

    failures: float
    by: str


@dataclass(frozen=True, slots=True)
class Loss:
    """What failures and saves take of a job in a week, in node hours: from ``least`` to ``most``, as far as known.

    ``waits`` and ``repeats`` are those of failures alone, ``saves`` the time that training waits for saves, ``None``
    where it is not known how long one takes. ``is_whole``: all of it is known. No more is lost than ``week``, all that
    its nodes have: failures that come faster than a job starts leave no time in which it trains.
    """

    waits: tuple[float, float]
    repeats: tuple[float, float]
    saves: float | None
    is_whole: bool
    week: float

    @property
    def least(self) -> float:
        return min(self.week, self.waits[0] + self.repeats[0] + (self.saves or 0))

    @property
    def most(self) -> float:
        return min(self.week, self.waits[1] + self.repeats[1] + (self.saves or 0))


@dataclass(frozen=True, slots=True)
class Week:
    """A week of a job: how often it fails by each known ``rate``, and how long it then waits."""

    job: Footing
    rates: tuple[Rate, ...]
    waits: Span

    @property
    def failures(self) -> tuple[float, float]:
        """The fewest and the most failures."""
        counts = [rate.failures for rate in self.rates]
        return min(counts), max(counts)

    @property
    def node_hours(self) -> float:
        """All that its nodes have in a week."""
        return self.job.nodes * WEEK / 3600

    def loss(self, every: int) -> Loss:
        """What is lost where the job saves every so many seconds.

        Failures × (time until the first new step + half an interval) + saves × the time to write one (Young 1974). A
        save costs nothing while training goes on.
        """
        fewest, most = self.failures
        hours = self.job.stopped / 3600
        saves = self._saves(every)
        return Loss(
            waits=(fewest * self.waits.least * hours, most * self.waits.most * hours),
            repeats=(fewest * every / 2 * hours, most * every / 2 * hours),
            saves=saves,
            is_whole=saves is not None and not self.waits.unknown,
            week=self.node_hours,
        )

    def _saves(self, every: int) -> float | None:
        schedule = self.job.schedule
        if schedule is None or schedule.asynchronous:
            return 0.0
        if schedule.write is None:
            return None
        return self.node_hours * min(1.0, schedule.write / every)


def week(planned: PlannedCluster, job: Footing, outcomes: Sequence[Outcome]) -> Week | None:
    """The week of a job; ``None`` where no rate is known, or it does not go on after a failure.

    Most failures are of a GPU (Llama 3: 58.7% of all), so that each takes as long as a node with one does that is
    replaced; of jobs without GPUs, as a lost node.
    """
    rates = tuple(_rates(planned, job))
    if not rates:
        return None
    by_failure = {outcome.failure: outcome for outcome in outcomes}
    usual = by_failure.get(Failure.REPLACE) or by_failure[Failure.NODE]
    if usual.span is None:
        return None
    return Week(job, rates, usual.span)


def _rates(planned: PlannedCluster, job: Footing) -> list[Rate]:
    """By what the pool says, or else by each rate that was published of GPUs."""
    pool = planned.pool(job.gang.pool)
    if pool is not None and pool.mean_time_between_failures is not None:
        mean = pool.mean_time_between_failures
        return [
            Rate(job.nodes * WEEK / mean.seconds, f"`meanTimeBetweenFailures: {mean}` of a node")
        ]
    if not job.gpus:
        return []
    published = planned.catalog.failure_rates.rates
    return [
        Rate(job.gpus * WEEK / 3600 / rate.hours, f"{rate.name}: {rate.counted} ({rate.source})")
        for rate in published
    ]
