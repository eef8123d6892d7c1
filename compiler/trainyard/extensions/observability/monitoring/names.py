"""The names that monitoring goes by: its chart, namespace, and the labels that its Prometheus asks for."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.core.pools.pools import pool_types
from trainyard.core.pools.spec import PoolsSection
from trainyard.eks.settings.launcher import PoolLauncher, launcher_asked
from trainyard.extensions.observability.monitoring.spec import Monitoring, MonitoringSection
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

STACK = "kube-prometheus-stack"
RELEASE = {"release": STACK}
"""The label by which Prometheus selects monitors and rules, unless values say that it takes all (kube-prometheus-stack
88.5.3, templates/prometheus/prometheus.yaml: serviceMonitorSelector)."""
CLASS = "monitoring"
"""The StorageClass of its volumes."""
EFA_EXPORTER = "efa-exporter"
EFA_CPU, EFA_MEMORY = 10, 48
"""What it requests: an interpreter of Python that answers twice a minute."""
DCGM_EXPORTER = "dcgm-exporter"
OPENCOST = "opencost"


def key_route() -> Route:
    """The place of the key in the spec."""
    return SPEC / "monitoring"


def is_wanted(context: Context) -> bool:
    """Where the spec asks for monitoring."""
    return MonitoringSection.of(context.spec).monitoring is not None


def monitoring_of(context: Context) -> Monitoring:
    """What the spec says of it, where it is wanted."""
    monitoring = MonitoringSection.of(context.spec).monitoring
    assert monitoring is not None, "monitoring is off"
    return monitoring


def is_managed(context: Context) -> bool:
    """Where Amazon Managed Service for Prometheus keeps samples, and the cluster's Prometheus only sends them."""
    return is_wanted(context) and monitoring_of(context).managed is not None


def prices_pods(context: Context) -> bool:
    """Where OpenCost is asked for."""
    return is_wanted(context) and monitoring_of(context).open_cost is not None


def readers(context: Context) -> tuple[str, ...]:
    """The programs that read metrics for which no alert and no dashboard asks."""
    return (OPENCOST,) if prices_pods(context) else ()


def namespace(context: Context) -> str:
    """Where all of it is."""
    return context.release.chart(STACK).namespace


def scraper(context: Context) -> dict[str, str]:
    """A label of the pods that scrape (prometheus-operator v0.93.0, pkg/apis/monitoring/v1/prometheus_types.go,
    PodMetadata; pkg/prometheus/agent/operator.go)."""
    name = "prometheus-agent" if is_managed(context) else "prometheus"
    return {"app.kubernetes.io/name": name}


def alertmanager(context: Context) -> str:
    """Where Alertmanager answers inside the cluster."""
    return f"http://prometheus-alertmanager.{namespace(context)}.svc:9093"


def part_labels(context: Context) -> tuple[str, ...]:
    """The labels of nodes with the name of what they are of, one for each launcher of the cluster."""
    return tuple(sorted({launcher.part_label for launcher in launchers(context)}))


def type_labels(context: Context, names: Iterable[str]) -> tuple[str, ...]:
    """What the labels of nodes call instance types, whichever launcher they are of."""
    labels = {of.type_label(name) for of in launchers(context) for name in names}
    return tuple(sorted(labels - {""}))


def launchers(context: Context) -> set[PoolLauncher]:
    """What launches the nodes of the cluster's pools."""
    return {launcher_asked(context, pool) for pool in PoolsSection.of(context.spec).node_pools}


def has_gpus(context: Context) -> bool:
    """Whether a pool has NVIDIA GPUs."""
    return any(instance.gpus for _, instance in context.once(pool_types))


def has_efa(context: Context) -> bool:
    """Whether a pool has interfaces of EFA."""
    return any(instance.efa_interfaces for _, instance in context.once(pool_types))
