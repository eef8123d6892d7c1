"""What becomes of the jobs of EKS when something fails."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.eks.failures.cluster import components_of, leaves, upgrades
from trainyard.extensions.forecast.eks.failures.gpus import xids
from trainyard.extensions.forecast.eks.failures.nodes import block_ends, node_lost, zone_lost
from trainyard.extensions.forecast.eks.failures.repairing import repairing
from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.outcome import Outcome
from trainyard.extensions.forecast.planned import PlannedCluster

__all__ = ["outcomes"]


def outcomes(planned: PlannedCluster, job: Footing) -> Iterator[Outcome]:
    """The outcome of each failure of a job, in the order of ``Failure``."""
    repair = repairing(planned, job)
    yield node_lost(planned, job, repair)
    yield from xids(planned, job, repair)
    yield zone_lost(planned, job, repair)
    yield from block_ends(planned, job, repair)
    yield leaves(job)
    yield from upgrades(planned, job, components_of(planned, job))
