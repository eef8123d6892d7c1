"""What was committed, read back."""

from __future__ import annotations

from pathlib import Path

from trainyard.run.history.committed import Committed
from trainyard.run.history.runs import ENDED, FOLDER, SUBMITTED, Run


def test_the_last_run_of_a_job_is_that_of_the_highest_rerun(tmp_path: Path) -> None:
    """And where two branches submitted one each, both are."""
    runs = [
        Run("train", "team-a", "train-1", rerun=0, state=ENDED),
        Run("train", "team-a", "train-2", rerun=1, state=SUBMITTED),
        Run("train", "team-a", "train-3", rerun=1, state=SUBMITTED),
        Run("other", "team-a", "other-1", rerun=2, state=SUBMITTED),
    ]
    (tmp_path / FOLDER).mkdir()
    for run in runs:
        (tmp_path / FOLDER / f"{run.object}.json").write_bytes(run.to_bytes())
    latest = Committed(tmp_path).latest
    names = {job: [run.object for run in last] for job, last in latest.items()}
    assert names == {"train": ["train-2", "train-3"], "other": ["other-1"]}
