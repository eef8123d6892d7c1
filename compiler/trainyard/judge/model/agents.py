"""Agents of logs and metrics that run on each node: DaemonSets by their images, and releases of Alloy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.core.images.plan import short_name
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import (
    mapping,
    mappings_at,
    read_tolerations,
    tolerations,
    value_at,
)
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan.scheduling import Toleration

_DCGM = "dcgm-exporter"
_IMAGES = frozenset(
    {
        _DCGM,
        "alloy",
        "aws-for-fluent-bit",
        "cloudwatch-agent",
        "fluent-bit",
        "fluentd",
        "fluentd-kubernetes-daemonset",
        "node-exporter",
        "promtail",
        "vector",
    }
)


@dataclass(frozen=True, slots=True)
class Agent:
    """Pods on each node that has the labels of ``selector``. ``field`` is where their tolerations are written."""

    title: str
    at: Route
    field: str
    tolerations: tuple[Toleration, ...]
    selector: Mapping[str, str]
    gpus_only: bool = False


def agents(alloys: Iterable[HelmRelease], manifests: Iterable[Manifest]) -> Iterator[Agent]:
    """The agents of releases of Alloy, and of DaemonSets; without those that required affinity leads elsewhere."""
    for release in alloys:
        yield from _of_alloy(release)
    for manifest in manifests:
        if manifest.ref.kind == "DaemonSet" and manifest.ref.group == "apps":
            yield from _of_daemon_set(manifest)


def _of_alloy(release: HelmRelease) -> Iterator[Agent]:
    """What the chart makes: a DaemonSet unless it is given another type (alloy 1.11.1, values.yaml)."""
    controller = mapping(release.values, "controller")
    reach = tolerations(release, "controller", "tolerations")
    is_daemon_set = controller.get("type", "daemonset") == "daemonset"
    if is_daemon_set and reach is not None and not controller.get("affinity"):
        yield Agent(
            f"release `{release.name}`",
            release.where("values"),
            "controller.tolerations",
            reach,
            mapping(controller, "nodeSelector"),
        )


def _of_daemon_set(manifest: Manifest) -> Iterator[Agent]:
    pod = mapping(manifest.body, "spec", "template", "spec")
    names = {
        short_name(str(container.get("image"))) for container in mappings_at(pod, "containers")
    }
    if not names & _IMAGES or value_at(pod, "affinity", "nodeAffinity"):
        return
    at = Route((manifest.id, "spec", "template", "spec"))
    yield Agent(
        f"the DaemonSet `{manifest.ref.name}`",
        at / "tolerations" if pod.get("tolerations") else at,
        "tolerations",
        read_tolerations(pod.get("tolerations")),
        mapping(pod, "nodeSelector"),
        gpus_only=names & _IMAGES == {_DCGM},
    )
