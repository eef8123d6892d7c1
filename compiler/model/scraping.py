"""What monitors of Prometheus select: Services, and pods by what makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compiler.dataclass import dataclass
from compiler.manifest import Manifest
from compiler.model.values import items, mapping
from compiler.places import Route

_WITH_PODS = ("Deployment", "DaemonSet", "StatefulSet")


@dataclass(frozen=True, slots=True)
class Target:
    """What a monitor may select, by its ``labels``. ``ports`` are the names of its ports.

    ``mistaken`` are labels that are easily taken for its own: ``mistake`` says whose they are, ``remedy`` what to
    write.
    """

    title: str
    namespace: str
    at: Route
    labels: Mapping[str, str]
    mistaken: Mapping[str, str]
    ports: frozenset[str]
    mistake: str
    remedy: str


def services_of(manifests: Iterable[Manifest]) -> Iterator[Target]:
    """The Services with ports."""
    for manifest in manifests:
        ports = items(manifest.body, "spec", "ports")
        if manifest.ref.kind == "Service" and not manifest.ref.group and ports:
            yield Target(
                title=f"the Service `{manifest.ref.name}`",
                namespace=manifest.ref.namespace,
                at=Route((manifest.id, "spec", "ports")),
                labels=mapping(manifest.body, "metadata", "labels"),
                mistaken=mapping(manifest.body, "spec", "selector"),
                ports=_names(ports),
                mistake="has pods with them, and lacks them itself",
                remedy="label the Service like its pods",
            )


def pods_of(manifests: Iterable[Manifest]) -> Iterator[Target]:
    """The pods of Deployments, DaemonSets and StatefulSets."""
    for manifest in manifests:
        if manifest.ref.kind in _WITH_PODS and manifest.ref.group == "apps":
            template = mapping(manifest.body, "spec", "template")
            containers = [
                *items(template, "spec", "containers"),
                *items(template, "spec", "initContainers"),
            ]
            yield Target(
                title=f"the {manifest.ref.kind} `{manifest.ref.name}`",
                namespace=manifest.ref.namespace,
                at=Route((manifest.id, "spec", "template")),
                labels=mapping(template, "metadata", "labels"),
                mistaken=mapping(manifest.body, "metadata", "labels"),
                ports=_names(
                    port for container in containers for port in items(container, "ports")
                ),
                mistake="has them, and its pods do not",
                remedy="label the pods too, under `template.metadata.labels`",
            )


def _names(ports: Iterable[Mapping[str, object]]) -> frozenset[str]:
    return frozenset(str(port["name"]) for port in ports if port.get("name"))
