"""Monitoring: what scrapes, and what it warns of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem

API = "monitoring.coreos.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor(PlanItem):
    """A ServiceMonitor or, with ``pods``, a PodMonitor: which targets Prometheus scrapes, and what it keeps.

    ``selector`` are the labels of the Service or the pods, in ``namespaces``. ``secure``: over TLS, with the token of
    Prometheus' account. ``kept``: the names of metrics that are not dropped; empty for all. ``labels``: its own.
    """

    name: str
    namespace: str
    pods: bool
    namespaces: tuple[str, ...]
    selector: Mapping[str, str]
    port: str
    interval: str = ""
    secure: bool = False
    kept: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of Prometheus: an alert or, with ``record``, a new series."""

    name: str
    expr: str
    record: bool = False
    wait: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleGroups(PlanItem):
    """A PrometheusRule: groups of rules by name, evaluated in order."""

    name: str
    namespace: str
    groups: Mapping[str, tuple[Rule, ...]]
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EfaExporter(PlanItem):
    """A DaemonSet that says the counters of EFA interfaces. ``instance_types`` are those of its nodes, ``cpu`` and
    ``memory`` what it requests (milli-cores, MiB)."""

    name: str
    namespace: str
    image: str
    port: int
    instance_types: tuple[str, ...]
    cpu: int
    memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringSize(PlanItem):
    """What Prometheus was sized for: for the report, since no manifest says why. ``reasons``: what the series of each
    exporter are the sum of."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    series: Mapping[str, int]
    reasons: Mapping[str, str]
    memory: Quantity
    cpu: int
    disk: Quantity
    needed: Quantity
    retention: str
    interval: str

    @property
    def total(self) -> int:
        """All series together."""
        return sum(self.series.values())
