"""Which metrics a cluster's exporters have, as far as its manifests say: by exporter of the catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from trainyard.eks.flux.plan import HelmRelease
from trainyard.extensions.observability.dashboards.plan import Dashboard
from trainyard.extensions.observability.monitoring.plan import Monitor, RuleGroups
from trainyard.extensions.observability.promql import of_dashboard
from trainyard.extensions.observability.released_exporters import exporter_of, exporters
from trainyard.judge.model.values import mappings_at, value_at
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan import Plan

_DCGM, _STACK, _OPENCOST = "dcgm-exporter", "kube-prometheus-stack", "opencost"
_NAMES = r"[A-Za-z_:][\w:]*(\|[A-Za-z_:][\w:]*)*"
_MONITOR = ("prometheus", "monitor")
_Places: TypeAlias = dict[tuple[str, ...], tuple[str, ...]]
_OF_STACK: _Places = {
    ("kubeApiServer", "serviceMonitor", "metricRelabelings"): ("kube-apiserver",),
    ("kubelet", "serviceMonitor", "metricRelabelings"): ("kubelet",),
    ("kubelet", "serviceMonitor", "cAdvisorMetricRelabelings"): ("cadvisor",),
    ("kube-state-metrics", *_MONITOR, "http", "metricRelabelings"): (
        "kube-state-metrics",
        "custom-resources",
    ),
    ("prometheus-node-exporter", *_MONITOR, "metricRelabelings"): ("node-exporter",),
    ("prometheus", "serviceMonitor", "metricRelabelings"): ("prometheus",),
    ("alertmanager", "serviceMonitor", "metricRelabelings"): ("alertmanager",),
}
"""Where values of kube-prometheus-stack 88.5.3 say what is kept of which exporter."""
_KEPT: dict[str, _Places] = {
    _STACK: _OF_STACK,
    # opencost 2.5.17
    _OPENCOST: {("opencost", "metrics", "serviceMonitor", "metricRelabelings"): (_OPENCOST,)},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query: ``by`` whom, as a text, and where it stands."""

    by: str
    query: str
    at: Route


def asked(plan: Plan) -> Iterator[Asked]:
    """The queries of all rules and panels."""
    for groups in plan.of(RuleGroups):
        for name, rules in groups.groups.items():
            for index, rule in enumerate(rules):
                by = "series" if rule.record else "alert"
                yield Asked(
                    f"{by} `{rule.name}`", rule.expr, groups.where(f"groups.{name}.{index}")
                )
    for board in plan.of(Dashboard):
        for panel in board.panels:
            for query in panel.queries:
                by = f"panel `{panel.title}` of dashboard `{board.title}`"
                yield Asked(by, of_dashboard(query.expr), board.where("panels"))


def made(plan: Plan) -> dict[str, frozenset[str]]:
    """The metrics by exporter, of those whose metrics are all known."""
    found: dict[str, set[str]] = {}
    unknown: set[str] = set()
    for exporter, names in _known(plan):
        if names is None:
            unknown.add(exporter)
        else:
            found.setdefault(exporter, set()).update(names)
    return {name: frozenset(names) for name, names in found.items() if name not in unknown}


def _known(plan: Plan) -> Iterator[tuple[str, frozenset[str] | None]]:
    for release in plan.of(HelmRelease):
        if release.chart == _DCGM:
            yield _DCGM, _dcgm(release)
        for path, names in _KEPT.get(release.chart, {}).items():
            for name in names:
                yield name, _kept(value_at(release.values, *path))
    for monitor in plan.of(Monitor):
        owners = {owner.name for name in monitor.kept if (owner := exporter_of(name)) is not None}
        for owner_name in owners:
            yield owner_name, frozenset(monitor.kept)


def _dcgm(release: HelmRelease) -> frozenset[str] | None:
    """The counters of a release of dcgm-exporter: those of its values, or else the chart's."""
    of_values = release.values.get("customMetrics")
    if isinstance(of_values, str):
        return frozenset(_counters(of_values))
    if of_values is not None or {"arguments", "extraEnv"} & set(release.values):
        return None
    if "values" in release.unread:
        return None
    return exporters()[_DCGM].defaults(release.version)


def _counters(table: str) -> Iterator[str]:
    """The first column of a table of counters; a line that begins with `#` is a comment."""
    for line in table.splitlines():
        counter = line.partition(",")[0].strip()
        if counter and not counter.startswith("#"):
            yield counter


def _kept(relabelings: Any) -> frozenset[str] | None:
    """The names that a relabelling keeps, where it lists them; ``None`` where anything is kept."""
    for each in mappings_at(relabelings):
        is_keep = each.get("action") == "keep" and each.get("sourceLabels") == ["__name__"]
        regex = each.get("regex")
        if is_keep and isinstance(regex, str) and re.fullmatch(_NAMES, regex):
            return frozenset(regex.split("|"))
    return None
