from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.diagnostics.diagnostic import listed
from compiler.manifest import Manifest, placeholder
from compiler.model.beside import in_one_folder
from compiler.model.scraping import Target, pods_of, services_of
from compiler.model.values import items, mapping
from compiler.output.body import texts
from compiler.places import Route
from compiler.platforms.eks.flux.plan import HelmRelease
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World

_SERVICES, _PODS = "ServiceMonitor", "PodMonitor"


@rule(
    "HLT066",
    severity=Severity.WARNING,
    kinds=("monitoring.coreos.com/ServiceMonitor", "monitoring.coreos.com/PodMonitor"),
)
def monitor_selects_nothing(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A monitor selects by labels of something else, or asks for a port that its targets do not have.

    A ServiceMonitor selects by the labels of Services, not of their pods, and its `port` is the name of a port of the
    Service; a PodMonitor selects by the labels of pods, not of what makes them, and its `port` is the name of a port of
    a container (prometheus-operator v0.93.1, API reference). Prometheus scrapes nothing then, and no event says why.
    It is said only where the manifests have what was meant, in a namespace of the monitor: a Service whose pods have
    the labels, a Deployment, DaemonSet or StatefulSet that has them itself, or targets of which none has the port.
    Nothing is said of namespaces that a chart is installed into, since the chart may bring the target.

    ## Fails

        apiVersion: v1
        kind: Service
        metadata: {name: trainer, namespace: training}
        spec: {selector: {app: trainer}, ports: [{name: metrics, port: 9400}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata: {name: trainer, namespace: training}
        spec: {selector: {matchLabels: {app: trainer}}, endpoints: [{port: metrics}]}

        apiVersion: v1
        kind: Service
        metadata: {name: trainer, namespace: training, labels: {app: trainer}}
        spec: {selector: {app: trainer}, ports: [{port: 9400}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata: {name: trainer, namespace: monitoring}
        spec:
          namespaceSelector: {matchNames: [training]}
          selector: {matchLabels: {app: trainer}}
          endpoints: [{port: metrics}]

        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: gateway, namespace: training}
        spec:
          selector: {matchLabels: {app: gateway}}
          template:
            metadata: {labels: {app: gateway}}
            spec:
              containers:
                - {name: gateway, image: "team/gateway:v1", ports: [{name: http, containerPort: 8080}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: PodMonitor
        metadata: {name: gateway, namespace: training}
        spec: {selector: {matchLabels: {app: gateway}}, podMetricsEndpoints: [{port: metrics}]}

    ## Passes

        apiVersion: v1
        kind: Service
        metadata: {name: trainer, namespace: training, labels: {app: trainer}}
        spec: {selector: {app: trainer}, ports: [{name: metrics, port: 9400}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata: {name: trainer, namespace: training}
        spec: {selector: {matchLabels: {app: trainer}}, endpoints: [{port: metrics}]}

        apiVersion: v1
        kind: Service
        metadata: {name: trainer, namespace: training}
        spec: {selector: {app: trainer}, ports: [{name: metrics, port: 9400}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata: {name: gateway, namespace: training}
        spec: {selector: {matchLabels: {app: gateway}}, endpoints: [{port: metrics}]}
    """
    selector = mapping(manifest.body, "spec", "selector")
    labels = mapping(selector, "matchLabels")
    is_known = labels and not any(placeholder(str(label)) for label in labels.values())
    if not is_known or selector.get("matchExpressions"):
        return
    namespaces = _namespaces(manifest)
    if _may_come_from_a_chart(namespaces, world):
        return
    read = services_of if manifest.ref.kind == _SERVICES else pods_of
    targets = [
        target
        for target in read(world.manifests)
        if target.namespace in namespaces and in_one_folder(target.at, Route((manifest.id,)))
    ]
    selected = [target for target in targets if labels.items() <= target.labels.items()]
    if selected:
        yield from _without_port(manifest, selected)
        return
    meant = [target for target in targets if labels.items() <= target.mistaken.items()]
    if meant:
        yield _of_other_labels(manifest, meant[0])


def _namespaces(manifest: Manifest) -> tuple[str, ...]:
    """The namespaces that a monitor looks into; none where it looks into all."""
    chosen = mapping(manifest.body, "spec", "namespaceSelector")
    if chosen.get("any"):
        return ()
    return tuple(texts(chosen, "matchNames")) or (manifest.ref.namespace,)


def _may_come_from_a_chart(namespaces: tuple[str, ...], world: World) -> bool:
    releases = world.plan.of(HelmRelease)
    return any({release.target, release.namespace} & set(namespaces) for release in releases)


def _without_port(manifest: Manifest, selected: list[Target]) -> Iterator[Finding]:
    known = {port for target in selected for port in target.ports}
    field = "endpoints" if manifest.ref.kind == _SERVICES else "podMetricsEndpoints"
    for index, endpoint in enumerate(items(manifest.body, "spec", field)):
        port = endpoint.get("port")
        if not isinstance(port, str) or placeholder(port) or port in known:
            continue
        yield Finding(
            f"{selected[0].title} has no port with the name `{port}`",
            Route((manifest.id, "spec", field, index, "port")),
            label="nothing is scraped",
            help=f"its ports are {listed(sorted(known))}" if known else "give its port this name",
            also=((selected[0].at, "what it selects"),),
        )


def _of_other_labels(manifest: Manifest, meant: Target) -> Finding:
    return Finding(
        f"nothing here has the labels by which `{manifest.ref.name}` selects: {meant.title} {meant.mistake}",
        Route((manifest.id, "spec", "selector")),
        label="nothing is scraped",
        help=meant.remedy,
        also=((meant.at, "probably meant"),),
    )
