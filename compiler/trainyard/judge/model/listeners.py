"""Ports of nodes that DaemonSets listen on: of manifests, and of charts whose DaemonSet is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import indexed, mapping, read_tolerations, tolerations, value_at
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan.scheduling import OS, Toleration

CHARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "prometheus-node-exporter": ((), ()),
    "kube-prometheus-stack": (("prometheus-node-exporter",), ("nodeExporter", "enabled")),
    "prometheus": (("prometheus-node-exporter",), ("prometheus-node-exporter", "enabled")),
}
"""Charts with a node-exporter: where its values are, and the value that switches it, on by default (Chart.yaml of
prometheus-node-exporter 4.56.1, kube-prometheus-stack 88.5.3 and prometheus 29.27.0)."""
_PORT = 9100
_TOLERATED = (Toleration("", "Exists", "", "NoSchedule"),)
"""`service.port` and `tolerations` of prometheus-node-exporter 4.56.1 by default, whose `hostNetwork` is true."""
_ANY = ("0.0.0.0", "::")  # noqa: S104
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class Port:
    """A port of the host: on ``address``, or on all of them where it is empty."""

    number: int
    protocol: str
    address: str

    def meets(self, other: Port) -> bool:
        """Whether one node cannot have both."""
        if (self.number, self.protocol) != (other.number, other.protocol):
            return False
        return not self.address or not other.address or self.address == other.address


@dataclass(frozen=True, slots=True)
class Listener:
    """A port of a DaemonSet: on the nodes that ``selector`` and ``affinity`` lead to and whose taints it tolerates.

    ``owner`` is the DaemonSet, or the release that has it, as a text.
    """

    owner: str
    at: Route
    port: Port
    selector: Mapping[str, str]
    affinity: Any
    tolerations: tuple[Toleration, ...]

    @property
    def is_on_all_nodes(self) -> bool:
        """Whether taints alone keep it from a node."""
        return not self.selector and not self.affinity


def listeners(releases: Iterable[HelmRelease], manifests: Iterable[Manifest]) -> Iterator[Listener]:
    """The ports of nodes that releases of ``CHARTS`` and DaemonSets listen on, as far as they are known."""
    for release in releases:
        values_at, switch = CHARTS[release.chart]
        is_off = bool(switch) and value_at(release.values, *switch) is False
        if not is_off and "values" not in release.unread:
            yield from _of_release(release, values_at)
    for manifest in manifests:
        if manifest.ref.kind == "DaemonSet" and manifest.ref.group == "apps":
            yield from _of_daemon_set(manifest)


def _of_daemon_set(manifest: Manifest) -> Iterator[Listener]:
    pod = mapping(manifest.body, "spec", "template", "spec")
    at = Route((manifest.id, "spec", "template", "spec"))
    running = [(("containers", number), each) for number, each in indexed(pod, "containers")]
    # A sidecar runs as long as its pod; the ports of other init containers are not counted (scheduler, NodePorts).
    for number, each in indexed(pod, "initContainers"):
        if each.get("restartPolicy") == "Always":
            running.append((("initContainers", number), each))
    for place, container in running:
        for index, written in indexed(container, "ports"):
            port = _port(written, host_network=pod.get("hostNetwork") is True)
            if port is not None:
                yield Listener(
                    f"the DaemonSet `{manifest.ref.name}`",
                    Route((*at, *place, "ports", index)),
                    port,
                    _selector(pod),
                    _required_affinity(pod),
                    read_tolerations(pod.get("tolerations")),
                )


def _port(written: Mapping[str, Any], *, host_network: bool) -> Port | None:
    """The port of the host that a container takes, where it is known."""
    number = written.get("hostPort")
    if number is None and host_network:
        number = written.get("containerPort")
    if not isinstance(number, int):
        return None
    address = str(written.get("hostIP") or "")
    is_any = address in _ANY
    return Port(number, str(written.get("protocol") or "TCP"), "" if is_any else address)


def _of_release(release: HelmRelease, values_at: tuple[str, ...]) -> Iterator[Listener]:
    values = mapping(release.values, *values_at)
    number = value_at(values, "service", "port") or _PORT
    reach = tolerations(release, *values_at, "tolerations", default=_TOLERATED)
    if values.get("hostNetwork") is False or reach is None or not isinstance(number, int):
        return
    yield Listener(
        f"the node-exporter of release `{release.name}`",
        release.where("values"),
        Port(number, "TCP", ""),
        _selector(values),
        _required_affinity(values),
        reach,
    )


def _selector(pod: Mapping[str, Any]) -> Mapping[str, str]:
    """The labels that nodes must have, without that of Linux, which all have."""
    labels = mapping(pod, "nodeSelector")
    return {key: label for key, label in labels.items() if (key, label) != (OS, "linux")}


def _required_affinity(pod: Mapping[str, Any]) -> Any:
    return value_at(pod, "affinity", "nodeAffinity", _REQUIRED)
