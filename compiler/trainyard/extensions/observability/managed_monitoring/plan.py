"""Managed monitoring: workspaces in AWS, who may write to them and read from them, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from trainyard.extensions.observability.monitoring.plan import RuleGroups
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsWorkspace(PlanItem):
    """A workspace of Amazon Managed Service for Prometheus, named as the cluster, and the role of who sends samples to
    it: ``trust`` is that of the role. ``days``: how long samples are kept. ``rules``: what it evaluates.

    ``alertmanager``: the configuration of its Alertmanager; ``None`` where alerts are sent to nobody.
    """

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    namespace: str
    service_account: str
    trust: Mapping[str, Any]
    days: int
    rules: tuple[RuleGroups, ...]
    alertmanager: Mapping[str, Any] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrafanaWorkspace(PlanItem):
    """A workspace of Amazon Managed Grafana, named as the cluster. ``authentication``: how people log in."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    partition: str
    account: str
    region: str
    authentication: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleVolume(PlanItem):
    """What is sent to AWS at most, for the report: series, and how often each is; how long samples are kept.

    ``memory`` and ``cpu`` (milli-cores) are those of the Prometheus that sends.
    """

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    series: int
    interval: int
    days: int
    memory: Quantity
    cpu: int
