"""What monitors of Prometheus select: Services, and pods by what makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from trainyard.judge.model.values import mapping, mappings_at
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_WITH_PODS = ("Deployment", "DaemonSet", "StatefulSet")


@dataclass(frozen=True, slots=True)
class Target:
    """What a monitor may select, by its ``labels``.

    ``ports`` are the names of its ports, ``of_pods`` the labels by which a Service selects its pods.
    """

    kind: str
    name: str
    namespace: str
    at: Route
    labels: Mapping[str, str]
    ports: frozenset[str]
    of_pods: Mapping[str, str] = field(default_factory=dict)


def services_of(manifests: Iterable[Manifest]) -> Iterator[Target]:
    """The Services with ports."""
    for manifest in manifests:
        ports = mappings_at(manifest.body, "spec", "ports")
        if manifest.ref.kind == "Service" and not manifest.ref.group and ports:
            yield Target(
                kind=manifest.ref.kind,
                name=manifest.ref.name,
                namespace=manifest.ref.namespace,
                at=Route((manifest.id, "spec", "ports")),
                labels=mapping(manifest.body, "metadata", "labels"),
                ports=_names(ports),
                of_pods=mapping(manifest.body, "spec", "selector"),
            )


def pods_of(manifests: Iterable[Manifest]) -> Iterator[Target]:
    """The pods of Deployments, DaemonSets and StatefulSets."""
    for manifest in manifests:
        if manifest.ref.kind in _WITH_PODS and manifest.ref.group == "apps":
            template = mapping(manifest.body, "spec", "template")
            containers = [
                *mappings_at(template, "spec", "containers"),
                *mappings_at(template, "spec", "initContainers"),
            ]
            yield Target(
                kind=manifest.ref.kind,
                name=manifest.ref.name,
                namespace=manifest.ref.namespace,
                at=Route((manifest.id, "spec", "template")),
                labels=mapping(template, "metadata", "labels"),
                ports=_names(
                    port for container in containers for port in mappings_at(container, "ports")
                ),
            )


def _names(ports: Iterable[Mapping[str, object]]) -> frozenset[str]:
    return frozenset(str(port["name"]) for port in ports if port.get("name"))
