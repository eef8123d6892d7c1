"""The timeline of a report: two jobs that cannot run at once on a pool that is always on."""

from __future__ import annotations

from pathlib import Path

import pytest
from html_page.reading import read
from running import Command
from trainyard.core.jobs.length import Basis, Length
from trainyard.extensions.forecast.timeline.course import Attempt, Course, Ending, Timeline
from trainyard.extensions.review.html.bars import courses

from report.test_report import part, rows, write

pytestmark = pytest.mark.slow

IMAGE, COMMAND = "registry.test/train:1.0", ["python", "train.py"]


def two_jobs(folder: Path, **more: object) -> None:
    """Of two nodes, `first` takes both for ten hours, and `second` one for five."""
    write(
        folder,
        region="us-east-1",
        pool={"zones": ["us-east-1b"], "nodes": {"min": 2, "max": 2}},
        jobs=[
            {"name": "first", "nodes": 2, "image": IMAGE, "command": COMMAND, "expected": "10h"},
            {"name": "second", "nodes": 1, "image": IMAGE, "command": COMMAND, **more},
        ],
    )


def test_who_starts_when_and_what_stands_idle(trainyard: Command, tmp_path: Path) -> None:
    """Two nodes for 15 hours are 30 node hours, of which one for five is idle; p4d.24xlarge: 21.957642 USD an hour."""
    two_jobs(tmp_path, expected="5h")
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    assert "2 jobs, the last known end is after 15h." in part(done.out, "Timeline")
    assert rows(done.out, "Timeline") == [
        ["first", "0s", "10h", "2 nodes of gpu, expected to run 10h"],
        ["second", "10h", "15h", "1 node of gpu, expected to run 5h; starts at 10h, after `first`"],
        ["pool", "paid node hours", "idle node hours", "USD of idle nodes"],
        ["---", "---:", "---:", "---:"],
        ["gpu", "30.0", "5.0", "109.79"],
    ]


def test_each_number_says_why(trainyard: Command, tmp_path: Path) -> None:
    two_jobs(tmp_path, expected="5h")
    said = trainyard("report", "lab.yaml", "--why", "timeline", cwd=tmp_path).out
    assert "second, starts: 10h: its nodes are free after `first`" in said
    assert "second, ends: 15h: expected to run 5h" in said
    assert "gpu, USD of idle nodes: 109.79: idle node hours × $21.9576" in said


def test_a_job_that_nothing_ends_has_no_end(trainyard: Command, tmp_path: Path) -> None:
    two_jobs(tmp_path)
    first, second, *_ = rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Timeline")
    assert first[1:3] == ["0s", "10h"]
    assert second[1:3] == ["10h", "is not known"]


def test_without_any_length_there_is_no_timeline(trainyard: Command, tmp_path: Path) -> None:
    write(tmp_path, jobs=[{"name": "a", "nodes": 1, "image": IMAGE, "command": COMMAND}])
    assert "## Timeline" not in trainyard("report", "lab.yaml", cwd=tmp_path).out


def test_the_page_draws_it(trainyard: Command, tmp_path: Path) -> None:
    two_jobs(tmp_path, expected="5h")
    page = read(trainyard("report", "lab.yaml", "--format", "html", cwd=tmp_path).out)
    figures = [each for each in page.all("figure") if "last known end" in each.text]
    (figure,) = figures
    assert "10h to 15h" in figure.text


def test_a_bar_has_each_time_that_a_job_waits_and_runs() -> None:
    stopped = Attempt(0, 20, Ending.PREEMPTED, (), by="b")
    again = Attempt(60, 80, Ending.DONE, ())
    length = Length(Basis.EXPECTED, 40)
    done = Course("a", "team/a", "queue", length, (stopped, again))
    open_ended = Course("b", "team/b", "queue", length, (Attempt(50, None, Ending.OPEN, ()),))
    never = Course("c", "team/c", "queue", length, ())
    chart = courses(Timeline("lab", None, (done, open_ended, never), (), 100))
    drawn = [[(each.kind, each.start, each.length) for each in bar.parts] for bar in chart.bars]
    assert drawn == [
        [("asked", 0, 20), ("waiting", 20, 40), ("asked", 60, 20)],
        [("waiting", 0, 50), ("asked", 50, 50)],
        [("waiting", 0, 100)],
    ]
    assert [bar.words for bar in chart.bars] == ["0s to 1m20s", "50s, no end", "never starts"]
