"""What becomes of the jobs of ParallelCluster when something fails: Slurm puts them back into their queue."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.outcome import Outcome
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.parallelcluster.failures.cluster import head_lost, leaves, upgrades
from trainyard.extensions.parallelcluster.failures.nodes import (
    block_ends,
    node_lost,
    xids,
    zone_lost,
)

__all__ = ["outcomes"]


def outcomes(planned: PlannedCluster, job: Footing) -> Iterator[Outcome]:
    """The outcome of each failure of a job, in the order of ``Failure``."""
    yield node_lost(planned, job)
    yield from xids(planned, job)
    yield zone_lost(planned, job)
    yield from block_ends(planned, job)
    yield leaves(planned, job)
    yield head_lost(job)
    yield from upgrades(planned, job)
