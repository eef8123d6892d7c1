"""Lift: the node-problem-detector, from its DaemonSet and ConfigMap or its chart, and condition tainters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from compiler.dataclass import dataclass
from compiler.lift.pods import tolerations
from compiler.lift.reader import Reader, embedded, name_of, namespace_of
from compiler.plan.base import PlanNode
from compiler.source import Route
from compiler.subjects.delivery.plan import HelmRelease
from compiler.subjects.health.plan import (
    ConditionTainter,
    MonitorRule,
    ProblemDetector,
    ProblemMonitor,
)
from compiler.subjects.namespaces.lift import Binding
from compiler.subjects.namespaces.plan import Access, ServiceAccount
from compiler.subjects.queues import lift as kueue

_DETECTOR = "node-problem-detector"
_TAINTER = "condition_tainter.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFiles(PlanNode):
    """A ConfigMap with monitors, on its way to the detector that mounts it."""

    name: str
    namespace: str
    monitors: tuple[ProblemMonitor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorPods(PlanNode):
    """A detector's DaemonSet, on its way to its ConfigMaps."""

    detector: ProblemDetector
    config_maps: tuple[str, ...]


def config_map(body: Reader) -> Iterator[PlanNode]:
    """A ConfigMap whose JSON files are monitors, or with the configuration of Kueue's manager
    (``controller_manager_config.yaml`` in Kueue's own manifests)."""
    for _, entry in (body / "data").entries():
        parsed = embedded(entry.word()) if kueue.CONFIGURATION in entry.word() else None
        if isinstance(parsed, dict) and parsed.get("kind") == "Configuration":
            yield from kueue.configuration(Reader(parsed, entry.at))
    monitors = _monitors(body / "data")
    if monitors:
        yield MonitorFiles(
            at=body.at,
            name=name_of(body),
            namespace=namespace_of(body),
            monitors=monitors,
        )


def _monitors(data: Reader) -> tuple[ProblemMonitor, ...]:
    monitors = []
    for key, entry in data.entries():
        parsed = _json(entry.word()) if key.endswith(".json") else None
        if isinstance(parsed, dict) and "plugin" in parsed and "rules" in parsed:
            monitors.append(
                _monitor(key.removesuffix(".json"), Reader(parsed, Route()), entry.at)
            )
    return tuple(monitors)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _monitor(name: str, body: Reader, at: Route) -> ProblemMonitor:
    return ProblemMonitor(
        at=at,
        name=name,
        plugin=(body / "plugin").word(),
        source=(body / "source").word(),
        conditions=tuple(
            (
                (condition / "type").word(),
                (condition / "reason").word(),
                (condition / "message").word(),
            )
            for condition in (body / "conditions").items()
        ),
        rules=tuple(
            MonitorRule(
                (rule / "type").value == "permanent",
                (rule / "condition").text(),
                (rule / "reason").word(),
                (rule / "pattern").word(),
            )
            for rule in (body / "rules").items()
        ),
        skip_initial_status=bool(
            body.follow("pluginConfig", "skip_initial_status").flag()
        ),
    )


def daemon_set(body: Reader) -> Iterator[PlanNode]:
    """The detector's DaemonSet."""
    spec = body.follow("spec", "template", "spec")
    image = next(
        (
            text
            for container in (spec / "containers").items()
            if _DETECTOR in (text := (container / "image").word())
        ),
        "",
    )
    if image:
        maps = tuple(
            name
            for volume in (spec / "volumes").items()
            if (name := volume.follow("configMap", "name").text())
        )
        yield DetectorPods(
            config_maps=maps,
            detector=ProblemDetector(
                at=body.at,
                name=name_of(body),
                namespace=namespace_of(body),
                image=image,
                monitors=(),
                tolerations=tolerations(spec / "tolerations"),
                node_selector=tuple((spec / "nodeSelector").strings().items()),
                origins={"tolerations": (spec / "tolerations").at},
            ),
        )


def deployment(body: Reader) -> Iterator[PlanNode]:
    """The condition tainter's Deployment."""
    for container in body.follow("spec", "template", "spec", "containers").items():
        if any(_TAINTER in word for word in (container / "command").texts()):
            options = [word.partition("=") for word in (container / "args").texts()]
            yield ConditionTainter(
                at=body.at,
                name=name_of(body),
                namespace=namespace_of(body),
                image=(container / "image").word(),
                conditions=tuple(
                    value for name, _, value in options if name == "--condition"
                ),
                taint_key=next(
                    (value for name, _, value in options if name == "--taint"), ""
                ),
            )


_RIGHTS = (ServiceAccount, Access, Binding)


def join(nodes: Sequence[PlanNode]) -> list[PlanNode]:
    """Each detector with the monitors of the ConfigMaps that it mounts, or of its chart's values.

    The service accounts and roles of detectors and tainters are theirs, not nodes of their own.
    """
    own = {node.detector.name for node in nodes if isinstance(node, DetectorPods)}
    own |= {node.name for node in nodes if isinstance(node, ConditionTainter)}
    files = {
        (node.namespace, node.name): node
        for node in nodes
        if isinstance(node, MonitorFiles)
    }
    joined: list[PlanNode] = []
    for node in nodes:
        if isinstance(node, DetectorPods):
            maps = (
                files.get((node.detector.namespace, name)) for name in node.config_maps
            )
            monitors = tuple(
                monitor for each in maps if each for monitor in each.monitors
            )
            joined.append(replace(node.detector, monitors=monitors))
        elif not isinstance(node, MonitorFiles) and not (
            isinstance(node, _RIGHTS) and node.name in own
        ):
            joined.append(node)
            if isinstance(node, HelmRelease) and _DETECTOR in (node.chart, node.name):
                joined.append(_from_chart(node))
    return joined


def _from_chart(release: HelmRelease) -> ProblemDetector:
    """The chart's ``settings.custom_monitor_definitions`` are files by name (deliveryhero chart 2.4.1)."""
    values = Reader(dict(release.values), release.where("values"))
    return ProblemDetector(
        at=release.at,
        name=release.name,
        namespace=release.target,
        image="",
        monitors=_monitors(values.follow("settings", "custom_monitor_definitions")),
        tolerations=tolerations(values / "tolerations"),
    )


KINDS = {
    "/ConfigMap": config_map,
    "apps/DaemonSet": daemon_set,
    "apps/Deployment": deployment,
}
