"""What watches the cluster: alarms of CloudWatch, and the metrics of GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem

MEASURED = ("utilization_gpu", "memory_used", "temperature_gpu", "power_draw")
"""What is measured of each GPU, as CloudWatch's agent calls it (CloudWatch user guide, CloudWatch-Agent-NVIDIA-GPU)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMetrics(PlanItem):
    """What the agent of each node with GPUs measures, each ``seconds``."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """An alarm over a metric: more than ``above`` of it, or less than ``below``, in each of so many ``periods`` of so
    many ``minutes``. ``of_head``: its metric is one of the head node, and else one of the cluster."""

    name: str
    what: str
    metric: str
    namespace: str = "ParallelCluster"
    statistic: str = "Sum"
    above: int = 0
    below: int | None = None
    minutes: int = 5
    periods: int = 1
    of_head: bool = False
    dimensions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAlarms(PlanItem):
    """The alarms of a cluster, and the ``topics`` that hear of them."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    alarms: tuple[Alarm, ...]
    topics: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
