from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.plan import Plan

_STACK = ("prometheus", "prometheusSpec")
_VOLUME = ("server", "persistentVolume", "enabled")


@rule("HLT063", severity=Severity.WARNING)
def prometheus_without_volume(plan: Plan, world: World) -> Iterator[Finding]:
    """A Prometheus keeps its samples in its pod, and loses them with it.

    Without `storage` the operator gives the pod an emptyDir (prometheus-operator v0.93.1,
    docs/platform/storage), and `storageSpec` of kube-prometheus-stack is empty by default (88.5.3,
    values.yaml): each update and each drained node deletes what was measured. The chart `prometheus` has a volume
    unless `server.persistentVolume.enabled` is false (29.27.0, values.yaml). A Prometheus that sends its samples
    elsewhere, by `remoteWrite` or Thanos, is not judged.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec: {chart: {spec: {chart: kube-prometheus-stack, version: 88.5.3}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec:
          chart: {spec: {chart: kube-prometheus-stack, version: 88.5.3}}
          values: {prometheus: {prometheusSpec: {storageSpec: {emptyDir: {medium: Memory}}}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec:
          chart: {spec: {chart: prometheus, version: 29.27.0}}
          values: {server: {persistentVolume: {enabled: false}}}

        apiVersion: monitoring.coreos.com/v1
        kind: Prometheus
        metadata: {name: training, namespace: monitoring}
        spec: {replicas: 1, retention: 30d}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec:
          chart: {spec: {chart: kube-prometheus-stack, version: 88.5.3}}
          values:
            prometheus:
              prometheusSpec:
                storageSpec:
                  volumeClaimTemplate: {spec: {resources: {requests: {storage: 100Gi}}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec:
          chart: {spec: {chart: kube-prometheus-stack, version: 88.5.3}}
          values: {prometheus: {prometheusSpec: {remoteWrite: [{url: "https://metrics.example.com/write"}]}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: prometheus, namespace: flux-system}
        spec: {chart: {spec: {chart: prometheus, version: 29.27.0}}}

        apiVersion: monitoring.coreos.com/v1
        kind: Prometheus
        metadata: {name: training, namespace: monitoring}
        spec:
          replicas: 1
          storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 100Gi}}}}}
    """
    for release in world.releases("kube-prometheus-stack"):
        if "values" not in release.unread and _stack_loses_samples(release):
            yield _finding(
                f"release `{release.name}`",
                release.where("values"),
                help="give `prometheus.prometheusSpec.storageSpec` a `volumeClaimTemplate`",
            )
    for release in world.releases("prometheus"):
        is_off = value_at(release.values, *_VOLUME) is False
        if is_off and not _is_sent(mapping(release.values, "server")):
            yield _finding(
                f"release `{release.name}`",
                release.where("values"),
                help=f"leave out `{'.'.join(_VOLUME)}`",
            )
    for manifest in world.manifests:
        if manifest.ref.group == "monitoring.coreos.com" and manifest.ref.kind == "Prometheus":
            spec = mapping(manifest.body, "spec")
            if _loses_samples(spec, "storage"):
                yield _finding(
                    f"the Prometheus `{manifest.ref.name}`",
                    Route((manifest.id, "spec")),
                    help="give `storage` a `volumeClaimTemplate`",
                )


def _stack_loses_samples(release: HelmRelease) -> bool:
    prometheus = mapping(release.values, "prometheus")
    is_off = prometheus.get("enabled") is False
    # An agent sends all that it scrapes, and keeps nothing.
    if is_off or prometheus.get("agentMode"):
        return False
    return _loses_samples(mapping(release.values, *_STACK), "storageSpec")


def _loses_samples(spec: Mapping[str, Any], storage: str) -> bool:
    """Whether no volume outlives the pod, and nothing else has its samples."""
    has_claim = bool(value_at(spec, storage, "volumeClaimTemplate"))
    return not has_claim and not _is_sent(spec)


def _is_sent(spec: Mapping[str, Any]) -> bool:
    return bool(spec.get("remoteWrite") or value_at(spec, "thanos", "objectStorageConfig"))


def _finding(who: str, at: Route, *, help: str) -> Finding:
    return Finding(
        f"{who} keeps its samples in its pod", at, label="they are deleted with the pod", help=help
    )
