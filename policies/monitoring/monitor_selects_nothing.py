from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.beside import in_one_folder
from trainyard.judge.model.scraping import Target, pods_of, services_of
from trainyard.judge.model.values import indexed, mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, placeholder

_SERVICES, _PODS = "ServiceMonitor", "PodMonitor"


@rule(
    "HLT066",
    severity=Severity.WARNING,
    kinds=("monitoring.coreos.com/ServiceMonitor", "monitoring.coreos.com/PodMonitor"),
)
def monitor_selects_nothing(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A monitor selects by labels that Services do not have, or asks for a port that its targets do not have.

    A ServiceMonitor selects by the labels of Services, not of their pods, and its `port` is the name of a port of the
    Service; the `port` of a PodMonitor is the name of a port of a container (prometheus-operator v0.93.1, API
    reference). Prometheus scrapes nothing then, and no event says why. Judged are monitors whose targets the manifests
    have, in a namespace that the monitor looks into: where no Service has the labels, and the pods of one do; and where
    no Service or Deployment, DaemonSet and StatefulSet that is selected has the port. In namespaces with a Helm release
    nothing is judged, since its chart may bring the target.

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

        # as the first that fails, but
        kind: Service
        metadata: {labels: {app: trainer}}

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
    for service in targets:
        if labels.items() <= service.of_pods.items():
            yield Finding(
                f"no Service here has the labels by which `{manifest.ref.name}` selects, which the pods of "
                f"`{service.name}` have",
                Route((manifest.id, "spec", "selector")),
                label="nothing is scraped",
                help=f"label the Service `{service.name}` like its pods",
                also=((service.at, "lacks the labels itself"),),
            )
            return


def _namespaces(manifest: Manifest) -> tuple[str, ...]:
    """The namespaces that a monitor looks into; none where it looks into all."""
    chosen = mapping(manifest.body, "spec", "namespaceSelector")
    if chosen.get("any"):
        return ()
    names = chosen.get("matchNames")
    if isinstance(names, list) and names:
        return tuple(map(str, names))
    return (manifest.ref.namespace,)


def _may_come_from_a_chart(namespaces: tuple[str, ...], world: World) -> bool:
    releases = world.plan.of(HelmRelease)
    return any({release.target, release.namespace} & set(namespaces) for release in releases)


def _without_port(manifest: Manifest, selected: list[Target]) -> Iterator[Finding]:
    known = {port for target in selected for port in target.ports}
    field = "endpoints" if manifest.ref.kind == _SERVICES else "podMetricsEndpoints"
    for index, endpoint in indexed(manifest.body, "spec", field):
        port = endpoint.get("port")
        if not isinstance(port, str) or placeholder(port) or port in known:
            continue
        yield Finding(
            f"the {selected[0].kind} `{selected[0].name}` has no port with the name `{port}`",
            Route((manifest.id, "spec", field, index, "port")),
            label="nothing is scraped",
            help=f"its ports are {listed(sorted(known))}" if known else "give its port this name",
            also=((selected[0].at, "what it selects"),),
        )
