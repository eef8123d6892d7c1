"""Jobs that Kueue treats otherwise between two forecasts."""

from __future__ import annotations

from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, Verdict
from trainyard.extensions.review.consequences import Action, Consequence, Place
from trainyard.extensions.review.consequences.verdicts import moved

FITS = Verdict("a", "q", Kind.FITS)
WAITS = Verdict("a", "q", Kind.WAITS, blockers=("b",))


def forecast(*verdicts: Verdict) -> Forecast:
    return Forecast("lab", verdicts, ())


def test_the_same_verdict_is_no_change() -> None:
    assert list(moved(forecast(FITS), forecast(FITS), {})) == []
    assert list(moved(forecast(WAITS), forecast(WAITS), {})) == []


def test_another_verdict_moves_a_job() -> None:
    place = Place("specs/lab.yaml", 7, 3)
    (change,) = moved(forecast(FITS), forecast(WAITS), {"a": place})
    assert (change.consequence, change.action) == (Consequence.MOVES_JOBS, Action.CHANGED)
    (field,) = change.fields
    assert (field.before, field.after, field.at) == ("FITS", "WAITS FOR `b`", place)


def test_a_new_job_and_one_that_goes() -> None:
    (change,) = moved(forecast(), forecast(FITS), {})
    assert change.action is Action.ADDED
    assert list(moved(forecast(FITS), forecast(), {})) == []


def test_a_job_that_ends_another_one() -> None:
    preempting = Verdict("a", "q", Kind.FITS, preempts=("b",))
    other = Verdict("b", "q", Kind.FITS)
    (change,) = moved(forecast(FITS, other), forecast(preempting, other), {})
    assert change.consequence is Consequence.ENDS_JOBS
    assert "Kueue ends `b` for it" in change.effect.why
    assert list(moved(forecast(preempting), forecast(preempting), {})) == []
