"""What a job has to go on from after a failure."""

from __future__ import annotations

from typing import Any

import pytest
from builders import spec
from failures.walking import read
from trainyard.extensions.forecast.failures.footings import footings

STOCK = {
    "runtime": "torch-distributed",
    "image": "registry.test/train:1.0",
    "command": ["python", "a.py"],
}


@pytest.mark.parametrize(
    ("job", "seconds"),
    [({"terminationGracePeriod": "45s"}, 45), ({"terminationGracePeriod": "1s"}, 1), (STOCK, 30)],
)
def test_processes_that_hang_are_killed_after_the_grace_period(
    job: dict[str, Any], seconds: int
) -> None:
    """Of 30 seconds where pods say none, as those of a released runtime."""
    (footing,) = footings(*read(spec(job=job)))
    assert footing.hung == (seconds, seconds)
