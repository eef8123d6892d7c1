"""Lift: the node-problem-detector, from its DaemonSet and ConfigMap or its chart, and condition tainters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.health.plan import ConditionTainter, MonitorRule, ProblemDetector, ProblemMonitor
from trainyard.eks.kueue import lift as kueue
from trainyard.eks.rbac.plan import Access, ServiceAccount
from trainyard.eks.teams.lift import Binding
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.lift.pods import tolerations
from trainyard.lift.reader import Reader, embedded, name_of, namespace_of
from trainyard.plan.base import PlanItem

_DETECTOR = "node-problem-detector"
_TAINTER = "condition_tainter.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFiles(PlanItem):
    """A ConfigMap with monitors, on its way to the detector that mounts it."""

    name: str
    namespace: str
    monitors: tuple[ProblemMonitor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorPods(PlanItem):
    """A detector's DaemonSet, on its way to its ConfigMaps."""

    detector: ProblemDetector
    config_maps: tuple[str, ...]


def config_map(body: Reader) -> Iterator[PlanItem]:
    """A ConfigMap whose JSON files are monitors, or with the configuration of Kueue's manager
    (``controller_manager_config.yaml`` in Kueue's own manifests)."""
    for _, entry in (body / "data").entries():
        text = entry.word()
        parsed = None
        if kueue.CONFIGURATION in text:
            parsed = embedded(text)
        if isinstance(parsed, dict) and parsed.get("kind") == "Configuration":
            yield from kueue.configuration(Reader(parsed, entry.at))
    monitors = _monitors(body / "data")
    if monitors:
        yield MonitorFiles(
            at=body.at, name=name_of(body), namespace=namespace_of(body), monitors=monitors
        )


def _monitors(data: Reader) -> tuple[ProblemMonitor, ...]:
    monitors = []
    for key, entry in data.entries():
        parsed = None
        if key.endswith(".json"):
            parsed = _json(entry.word())
        if not isinstance(parsed, dict):
            continue
        if "plugin" in parsed and "rules" in parsed:
            body = Reader(parsed, Route())
            monitors.append(_monitor(key.removesuffix(".json"), body, entry.at))
    return tuple(monitors)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _monitor(name: str, body: Reader, at: Route) -> ProblemMonitor:
    skips = body.follow("pluginConfig", "skip_initial_status").flag()
    rules = [_rule(rule) for rule in (body / "rules").items()]
    listed = (body / "conditions").items()
    conditions = [_condition(item) for item in listed]
    return ProblemMonitor(
        at=at,
        name=name,
        plugin=(body / "plugin").word(),
        source=(body / "source").word(),
        conditions=tuple(conditions),
        rules=tuple(rules),
        skip_initial_status=bool(skips),
    )


def _condition(body: Reader) -> tuple[str, str, str]:
    """Its type, reason and message."""
    return ((body / "type").word(), (body / "reason").word(), (body / "message").word())


def _rule(body: Reader) -> MonitorRule:
    return MonitorRule(
        permanent=(body / "type").value == "permanent",
        condition=(body / "condition").text(),
        reason=(body / "reason").word(),
        pattern=(body / "pattern").word(),
    )


def daemon_set(body: Reader) -> Iterator[PlanItem]:
    """The detector's DaemonSet."""
    spec = body.follow("spec", "template", "spec")
    images = [(container / "image").word() for container in (spec / "containers").items()]
    of_detector = [image for image in images if _DETECTOR in image]
    if not of_detector:
        return
    maps = [volume.follow("configMap", "name").text() for volume in (spec / "volumes").items()]
    yield DetectorPods(
        config_maps=tuple(name for name in maps if name),
        detector=ProblemDetector(
            at=body.at,
            name=name_of(body),
            namespace=namespace_of(body),
            image=of_detector[0],
            monitors=(),
            tolerations=tolerations(spec / "tolerations"),
            node_selector=tuple((spec / "nodeSelector").strings().items()),
            origins={"tolerations": (spec / "tolerations").at},
        ),
    )


def deployment(body: Reader) -> Iterator[PlanItem]:
    """The condition tainter's Deployment."""
    containers = body.follow("spec", "template", "spec", "containers")
    for container in containers.items():
        command = (container / "command").texts()
        if any(_TAINTER in word for word in command):
            options = (container / "args").texts()
            taints = _values(options, "--taint")
            yield ConditionTainter(
                at=body.at,
                name=name_of(body),
                namespace=namespace_of(body),
                image=(container / "image").word(),
                conditions=_values(options, "--condition"),
                taint_key=taints[0] if taints else "",
            )


def _values(options: Sequence[str], wanted: str) -> tuple[str, ...]:
    """The values of an option of a command, in order."""
    values = []
    for option in options:
        name, _, value = option.partition("=")
        if name == wanted:
            values.append(value)
    return tuple(values)


_RIGHTS = (ServiceAccount, Access, Binding)


def join(nodes: Sequence[PlanItem]) -> list[PlanItem]:
    """Each detector with the monitors of the ConfigMaps that it mounts, or of its chart's values.

    The service accounts and roles of detectors and tainters are theirs, not nodes of their own.
    """
    own = set()
    for node in nodes:
        if isinstance(node, DetectorPods):
            own.add(node.detector.name)
        elif isinstance(node, ConditionTainter):
            own.add(node.name)
    files = {
        (node.namespace, node.name): node.monitors
        for node in nodes
        if isinstance(node, MonitorFiles)
    }
    joined: list[PlanItem] = []
    for node in nodes:
        if isinstance(node, MonitorFiles):
            continue
        if isinstance(node, _RIGHTS) and node.name in own:
            continue
        if isinstance(node, DetectorPods):
            node = _with_monitors(node, files)
        joined.append(node)
        if isinstance(node, HelmRelease):
            names = (node.chart, node.name)
            if _DETECTOR in names:
                joined.append(_from_chart(node))
    return joined


def _with_monitors(
    pods: DetectorPods, files: Mapping[tuple[str, str], tuple[ProblemMonitor, ...]]
) -> ProblemDetector:
    monitors: list[ProblemMonitor] = []
    for name in pods.config_maps:
        key = (pods.detector.namespace, name)
        monitors += files.get(key, ())
    return replace(pods.detector, monitors=tuple(monitors))


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


KINDS = {"/ConfigMap": config_map, "apps/DaemonSet": daemon_set, "apps/Deployment": deployment}
