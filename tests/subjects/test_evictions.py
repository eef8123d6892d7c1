"""How often a job asks again whose pods do not become ready, by what that costs."""

from __future__ import annotations

from typing import Any

import pytest
from builders import plan_of, spec
from trainyard.eks.kueue.plan import QueueManager


@pytest.mark.parametrize(
    ("pool", "kueue", "times"),
    [
        # USD an hour on demand: c7i.24xlarge 4.28, p4d.24xlarge 21.96, p5.48xlarge 55.04; half an hour each time.
        ({"instanceTypes": ["c7i.24xlarge"], "nodes": {"max": 4}}, {}, 10),
        ({"instanceTypes": ["p4d.24xlarge"], "nodes": {"max": 8}}, {}, 10),
        ({"instanceTypes": ["p4d.24xlarge"], "nodes": {"max": 12}}, {}, 5),
        ({"instanceTypes": ["p5.48xlarge"], "nodes": {"max": 80}}, {}, 2),
        (
            {"instanceTypes": ["p5.48xlarge"], "nodes": {"max": 80}},
            {"waitForPodsReady": {"requeues": 7}},
            7,
        ),
        (
            {"instanceTypes": ["c7i.24xlarge"], "nodes": {"max": 4}},
            {"waitForPodsReady": {"timeout": "20h"}},
            5,
        ),
    ],
)
def test_fewer_times_where_a_wait_is_dear(
    pool: dict[str, Any], kueue: dict[str, Any], times: int
) -> None:
    (manager,) = plan_of(spec(pool=pool, kueue=kueue)).of(QueueManager)
    assert manager.requeue_limit == times
