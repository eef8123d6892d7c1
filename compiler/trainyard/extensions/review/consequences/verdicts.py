"""Jobs that Kueue would treat otherwise: the simulations of two revisions, compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.extensions.forecast.change import Action, Change, Consequence, Effect, Field, Place
from trainyard.extensions.forecast.simulate.verdict import Forecast, Verdict, why
from trainyard.output.fields import ABSENT

JOB = "job"
"""The kind of a change that is no object's: what the simulation says of a job."""
VERDICT = "verdict"
"""The field of such a change: what is said of a job is shown whole, however long it is."""
_SOURCE = "trainyard simulate (Kueue 0.19.2)"


def moved(before: Forecast, after: Forecast, places: Mapping[str, Place]) -> Iterator[Change]:
    """Each job of the later revision with another verdict. ``places``: the line of each job, by its name."""
    earlier = {verdict.job: verdict for verdict in before.verdicts}
    for verdict in after.verdicts:
        old = earlier.get(verdict.job)
        was = words(old) if old is not None else ABSENT
        now = words(verdict)
        # What comes with the merge as well is not ended by it: it would not have run.
        ended = set(verdict.preempts) & set(earlier)
        ended -= set(old.preempts if old is not None else ())
        if was != now or ended:
            yield _change(verdict, was, now, places.get(verdict.job), sorted(ended))


def words(verdict: Verdict) -> str:
    """A verdict in one line."""
    return f"{verdict.kind} {why(verdict)}".rstrip()


def _change(verdict: Verdict, was: object, now: str, at: Place | None, ended: list[str]) -> Change:
    consequence = Consequence.MOVES_JOBS
    reason = "if all jobs are submitted at once, Kueue decides otherwise"
    if ended:
        names = ", ".join(f"`{name}`" for name in ended)
        consequence = Consequence.ENDS_JOBS
        reason = f"if all jobs are submitted at once, Kueue ends {names} for it"
    field = Field(path=VERDICT, before=was, after=now, at=at)
    return Change(
        action=Action.ADDED if was is ABSENT else Action.CHANGED,
        effect=Effect(consequence, reason, _SOURCE),
        object=f"job {verdict.job}",
        kind=JOB,
        file="",
        at=at,
        fields=(field,),
    )
