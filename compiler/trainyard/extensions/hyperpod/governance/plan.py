"""Task governance: who may use how many nodes, and which jobs go first, as SageMaker is asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.eks.kueue.plan import LocalQueue, WorkloadPriority
from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem

LEND_AND_BORROW, LEND, DONT_LEND = "LendAndBorrow", "Lend", "DontLend"
"""What a team does with idle nodes (SageMaker API, ResourceSharingStrategy)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeQuota(PlanItem):
    """A request of CreateComputeQuota (SageMaker API, botocore 1.44.5).

    ``nodes`` and ``borrowed``: whole nodes by instance type, by EC2's names: what the team has, and the most that it
    borrows. ``sharing`` is LendAndBorrow, Lend or DontLend. ``preempts``: jobs of the team stop its own of lower
    priority. ``weight``: the fair share, 0 to 100. ``whole``: the quota is in whole nodes alone.
    """

    name: str
    team: str
    nodes: Mapping[str, int] = field(default_factory=dict)
    sharing: str = LEND_AND_BORROW
    borrowed: Mapping[str, int] = field(default_factory=dict)
    preempts: bool = True
    weight: int | None = None
    whole: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPolicy(PlanItem):
    """A request of CreateClusterSchedulerConfig (SageMaker API, botocore 1.44.5): the weights of priorities, 0 to 100,
    and whether idle nodes are shared by weights (``fair``) or to whom asks first."""

    single: ClassVar[bool] = True

    name: str
    priorities: Mapping[str, int] = field(default_factory=dict)
    fair: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamQueue(LocalQueue):
    """The LocalQueue that SageMaker makes of a compute quota; ``cluster_queue`` is the team."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPriority(WorkloadPriority):
    """The WorkloadPriorityClass that SageMaker makes of a weight."""
