"""What becomes of the jobs of EKS when something fails."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.failures.footing import Footing
from compiler.failures.outcome import Outcome
from compiler.failures.setting import Setting
from compiler.platforms.eks.failures.cluster import components_of, leaves, upgrades
from compiler.platforms.eks.failures.gpus import xids
from compiler.platforms.eks.failures.nodes import block_ends, node_lost, zone_lost
from compiler.platforms.eks.failures.repairing import repairing

__all__ = ["outcomes"]


def outcomes(setting: Setting, job: Footing) -> Iterator[Outcome]:
    """The outcome of each failure of a job, in the order of ``Failure``."""
    repair = repairing(setting, job)
    yield node_lost(setting, job, repair)
    yield from xids(setting, job, repair)
    yield zone_lost(setting, job, repair)
    yield from block_ends(setting, job, repair)
    yield leaves(job)
    yield from upgrades(setting, job, components_of(setting, job))
