"""RUN175 judges jobs of every platform at the line of their retries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from platforms.hyperpod.clusters import spec as hyperpod
from platforms.parallelcluster.clusters import spec as slurm
from running import Command

from failures.walking import saving

pytestmark = pytest.mark.slow

LONG = {"expected": "700h", "timeout": "720h", "retries": 10}
OFTEN = {"meanTimeBetweenFailures": "200h"}


@pytest.mark.parametrize(
    "data",
    [
        saving(LONG, pool=OFTEN),
        saving({**LONG, "kind": "PyTorchJob"}, pool=OFTEN),
        slurm(job=LONG, pool=OFTEN),
        hyperpod(job=LONG, pool=OFTEN),
    ],
    ids=["eks", "pods", "slurm", "hyperpod"],
)
def test_a_job_that_fails_more_often_than_it_starts_again(
    trainyard: Command, tmp_path: Path, data: dict[str, Any]
) -> None:
    """200 hours of a node are 50 of four: 14 failures in 700 hours, and 14 + 3 × √14 retries are enough."""
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    done = trainyard("check", "lab.yaml", "--no-cache", cwd=tmp_path)
    assert "warning[RUN175]: job `train" in done.out
    assert "is expected to fail 14.0 times in 700h, and is started again 10 times" in done.out
    assert "write `retries: 26`" in done.out
    assert "retries: 10" in done.out
