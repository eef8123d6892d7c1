"""What Prometheus scrapes besides what its own chart scrapes: controllers with their ports and labels.

kube-prometheus-stack makes the monitors of the kubelet, cAdvisor, kube-state-metrics, node-exporter, the API server and
itself, and the chart of dcgm-exporter its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.eks.flux.stages import FLUX
from trainyard.eks.jobs.kinds.ray_job import KUBERAY
from trainyard.eks.jobs.wanted import operates
from trainyard.eks.settings.spec import ClusterSection
from trainyard.extensions.observability.logs.names import ALLOY
from trainyard.extensions.observability.logs.names import is_wanted as logged
from trainyard.extensions.observability.monitoring.names import RELEASE, key_route, namespace
from trainyard.extensions.observability.monitoring.plan import Monitor
from trainyard.extensions.observability.released_exporters import of
from trainyard.language.dataclass import dataclass
from trainyard.plan.context import Context


@dataclass(frozen=True, slots=True)
class Source:
    """A controller: the labels of its Service or pods, its port by name, and the exporters whose metrics it has.

    ``secure``: it asks for a token over TLS. ``pods``: it has no Service for metrics.
    """

    component: str
    selector: Mapping[str, str]
    port: str
    exporters: tuple[str, ...]
    secure: bool = False
    pods: bool = False
    namespace: str = ""


def _name(name: str, **more: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": name, **more}


_SOURCES = (
    # kueue v0.19.2 charts/kueue/templates/manager/auth_proxy_service.yaml, _helpers.tpl (metricsService.labels)
    Source(
        "kueue",
        _name("kueue", **{"app.kubernetes.io/component": "metrics-service"}),
        "https",
        ("kueue", "controllers"),
        secure=True,
    ),
    # jobset v0.12.0 charts/jobset/templates/prometheus/manager_metrics_service.yaml, controller/_helpers.tpl
    Source(
        "jobset",
        _name("jobset", **{"app.kubernetes.io/component": "controller"}),
        "https",
        ("controllers",),
        secure=True,
    ),
    # trainer v2.3.0 charts/kubeflow-trainer/templates/manager/service.yaml; metrics.secureServing is on by default
    Source(
        "trainer",
        _name("kubeflow-trainer", **{"app.kubernetes.io/component": "manager"}),
        "monitoring-port",
        ("controllers",),
        secure=True,
    ),
)
# karpenter v1.14.1 charts/karpenter/templates/service.yaml
_KARPENTER = Source("karpenter", _name("karpenter"), "http-metrics", ("controllers",))
# kuberay v1.6.2 helm-chart/kuberay-operator/templates/service.yaml
_KUBERAY = Source(KUBERAY, _name("kuberay-operator"), "http", ("controllers",))
# alloy chart 1.11.1, templates/containers/_agent.yaml: port http-metrics of its pods
_ALLOY = Source(ALLOY, _name("alloy"), "http-metrics", ("alloy",), pods=True)
# fluxcd/flux2-monitoring-example 7ab65dc8 monitoring/configs/podmonitor.yaml: its controllers have no Service for
# metrics. The label is on their pods since flux2 v2.7.0 at the latest.
_FLUX = Source(
    "flux",
    {"app.kubernetes.io/part-of": "flux"},
    "http-prom",
    ("controllers",),
    pods=True,
    namespace=FLUX,
)


def sources(context: Context) -> Iterator[Source]:
    """The controllers of a cluster."""
    without = context.platform.without
    yield from (source for source in _SOURCES if source.component not in without)
    if ClusterSection.of(context.spec).auto_mode is None and "karpenter" not in without:
        yield _KARPENTER
    if operates(context, KUBERAY):
        yield _KUBERAY
    if logged(context):
        yield _ALLOY
    yield _FLUX


def monitors(context: Context) -> Iterator[Monitor]:
    """The monitor of each of them, with the label that the stack's Prometheus asks for by default."""
    for source in sources(context):
        name = source.component
        yield Monitor(
            at=key_route(),
            name=name,
            namespace=namespace(context),
            pods=source.pods,
            namespaces=(source.namespace or context.release.chart(name).namespace,),
            selector=source.selector,
            port=source.port,
            secure=source.secure,
            kept=_kept(*source.exporters),
            labels=RELEASE,
        )


def exporter_monitor(
    context: Context, name: str, exporter: str, port: str, *, beside: str = ""
) -> Monitor:
    """The PodMonitor of an exporter of our own, which says the node of each sample. ``beside``: the namespace of its
    pods, where it is not that of monitoring."""
    return Monitor(
        at=key_route(),
        name=name,
        namespace=namespace(context),
        pods=True,
        namespaces=(beside or namespace(context),),
        selector={"app.kubernetes.io/name": exporter},
        port=port,
        kept=_kept(exporter),
        labels=RELEASE,
    )


def _kept(*exporters: str) -> tuple[str, ...]:
    return tuple(metric.name for metric in of(*exporters))
