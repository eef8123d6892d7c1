"""The cluster of HyperPod, and what the bootstrap makes for its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodCluster(PlanItem):
    """A request of CreateCluster (SageMaker API, botocore 1.44.5), without its instance groups.

    ``eks``: the ARN of the cluster of EKS whose nodes its instances are; ``slurm``: Slurm is its orchestrator.
    ``recovery`` is Automatic or None, ``None`` where a file does not say it.
    """

    name: str
    eks: str | None = None
    slurm: bool = False
    recovery: str | None = None
    subnets: tuple[str, ...] = ()
    security_groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodStack(PlanItem):
    """What the bootstrap makes for all nodes: their role, and the bucket of lifecycle scripts. ``operator`` is who may
    take the role of HyperPod's training operator; empty where there is none."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    region: str
    account: str
    partition: str
    role: str
    bucket: str
    scripts: str
    operator: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
