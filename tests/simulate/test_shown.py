"""What the text of a simulation says of a job: its verdict, where it runs, whom it ends and what would help."""

from __future__ import annotations

import pytest
from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, Verdict, Where, text

ONE_PLACE = (Where("gpu", "us-west-2b", "", 4, 4),)
TWO_PLACES = (Where("cpu", "", "rack-1", 4, 2), *ONE_PLACE)


def said(verdict: Verdict) -> list[str]:
    """The lines of a job."""
    lines = text([Forecast("lab", (verdict,), ())]).splitlines()[1:]
    return [line.strip() for line in lines]


@pytest.mark.parametrize(
    ("verdict", "lines"),
    [
        (Verdict("a", "q", Kind.FITS), ["a  FITS"]),
        (
            Verdict("a", "q", Kind.FITS, where=TWO_PLACES, preempts=("b", "c")),
            [
                "a  FITS  4 pods on 2 nodes of cpu in rack-1, 4 nodes of gpu in us-west-2b",
                "ends `b`, `c`",
            ],
        ),
        (
            Verdict("a", "q", Kind.ONLY_IF, conditions=("one", "two"), where=ONE_PLACE),
            ["a  FITS ONLY IF one; two", "4 nodes of gpu in us-west-2b"],
        ),
        (Verdict("a", "q", Kind.ONLY_IF, conditions=("one",)), ["a  FITS ONLY IF one"]),
        (
            Verdict("a", "q", Kind.WAITS, blockers=("b",), until="2h", edits=("x", "y")),
            ["a  WAITS FOR `b` until 2h", "helps: x, or y"],
        ),
        (Verdict("a", "q", Kind.WAITS), ["a  WAITS FOR another job of its queue"]),
        (
            Verdict("a", "q", Kind.NEVER, conflict=("one", "two"), edits=("x",)),
            ["a  NEVER FITS", "because of one", "because of two", "helps: x"],
        ),
        (
            Verdict("a", "", Kind.UNKNOWN, conditions=("it is odd",)),
            ["a  NOT SIMULATED: it is odd"],
        ),
    ],
)
def test_what_is_said_of_a_job(verdict: Verdict, lines: list[str]) -> None:
    assert said(verdict) == lines


def test_what_is_said_of_all_jobs() -> None:
    fits, unknown = Verdict("a", "q", Kind.FITS), Verdict("longer", "", Kind.UNKNOWN)
    waits = Verdict("b", "q", Kind.WAITS, blockers=("a",))
    heads = [
        text([forecast]).splitlines()[0]
        for forecast in (
            Forecast("lab", (), ()),
            Forecast("lab", (unknown,), ()),
            Forecast("lab", (fits, unknown), ()),
            Forecast("lab", (fits, waits), (), waiting=("b",)),
        )
    ]
    assert heads == [
        "lab: no job to simulate",
        "lab: no job to simulate",
        "lab: 1 job at once, all are admitted",
        "lab: 2 jobs at once, 1 admitted; as Flux creates them not: `b`",
    ]


def test_what_it_rests_on_stands_below() -> None:
    fits = Verdict("a", "q", Kind.FITS)
    whole = text([Forecast("lab", (fits,), ("zones are assumed",), settled=False)] * 2)
    note = "some jobs preempt each other again and again; the state after many rounds is shown"
    lines = [
        "lab: 1 job at once, all are admitted",
        "  a  FITS",
        "  note: zones are assumed",
        f"  note: {note}",
    ]
    assert whole.split("\n") == [*lines, "", *lines, ""]
