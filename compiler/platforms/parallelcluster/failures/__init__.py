"""What becomes of the jobs of ParallelCluster when something fails: Slurm puts them back into their queue."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.failures.footing import Footing
from compiler.failures.outcome import Outcome
from compiler.failures.setting import Setting
from compiler.platforms.parallelcluster.failures.cluster import head_lost, leaves, upgrades
from compiler.platforms.parallelcluster.failures.nodes import block_ends, node_lost, xids, zone_lost

__all__ = ["outcomes"]


def outcomes(setting: Setting, job: Footing) -> Iterator[Outcome]:
    """The outcome of each failure of a job, in the order of ``Failure``."""
    yield node_lost(setting, job)
    yield from xids(setting, job)
    yield zone_lost(setting, job)
    yield from block_ends(setting, job)
    yield leaves(setting, job)
    yield head_lost(job)
    yield from upgrades(setting, job)
