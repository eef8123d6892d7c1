"""kube-prometheus-stack: Prometheus, its operator, Alertmanager, Grafana, kube-state-metrics and node-exporter.

Of what they could say, Prometheus keeps what alerts, dashboards and OpenCost ask for (``released_exporters``): so its
series can be counted, and its memory and disk follow. The chart's own rules and dashboards ask for more, and are off.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from trainyard.core.pools.spec import PoolsSection
from trainyard.eks.addons.addon import (
    EVERYWHERE,
    OURS,
    AddOn,
    Controller,
    Daemon,
    Endpoint,
    Setting,
)
from trainyard.eks.jobs.pod_labels import pod_labels
from trainyard.eks.settings.launcher import launcher_asked
from trainyard.extensions.observability.managed_monitoring import agent
from trainyard.extensions.observability.monitoring.names import (
    CLASS,
    STACK,
    is_managed,
    is_wanted,
    key_route,
    monitoring_of,
    namespace,
    readers,
    scraper,
)
from trainyard.extensions.observability.monitoring.sizing import ALERTMANAGER_DISK, size
from trainyard.extensions.observability.notifications import alertmanager
from trainyard.extensions.observability.notifications.names import alerts_of
from trainyard.extensions.observability.released_exporters import kept
from trainyard.output.lowering.body import resources
from trainyard.plan.context import Context

_JOBSET = "jobset.x-k8s.io"
_FLUX_KINDS = {
    ("kustomize.toolkit.fluxcd.io", "v1"): {"Kustomization": "kustomizations"},
    ("helm.toolkit.fluxcd.io", "v2"): {"HelmRelease": "helmreleases"},
    ("source.toolkit.fluxcd.io", "v1"): {
        "GitRepository": "gitrepositories",
        "HelmRepository": "helmrepositories",
        "OCIRepository": "ocirepositories",
    },
}
_NODE_LABELS = (
    "node.kubernetes.io/instance-type",
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
)
"""What kube-state-metrics says of the labels of nodes, in every cluster."""


def values(setting: Setting) -> dict[str, Any]:
    """kube-prometheus-stack 88.5.3 chart values."""
    context = setting.context
    reading = readers(context)
    return {
        "fullnameOverride": "prometheus",
        # Their metrics are not kept. EKS lets nobody scrape its etcd, scheduler and controller manager.
        "defaultRules": {"create": False},
        **{name: {"enabled": False} for name in _OFF},
        "kubeApiServer": {"serviceMonitor": {"metricRelabelings": _keep("kube-apiserver")}},
        "kubelet": {
            "serviceMonitor": {
                "probes": False,
                "metricRelabelings": _keep("kubelet", readers=reading),
                "cAdvisorInterval": str(monitoring_of(context).interval),
                "cAdvisorMetricRelabelings": [*_keep("cadvisor", readers=reading), _OF_PODS],
            }
        },
        "kube-state-metrics": _state_metrics(context, reading),
        "prometheus-node-exporter": _node_exporter(),
        "prometheusOperator": {
            "resources": resources(*_OPERATOR),
            "serviceMonitor": {"selfMonitor": False},
        },
        **_of_monitoring(context),
    }


def _of_monitoring(context: Context) -> dict[str, Any]:
    """What keeps samples, sends alerts and shows dashboards, or what sends samples to the services that do."""
    if is_managed(context):
        return {
            "prometheus": _agent(context),
            "alertmanager": {"enabled": False},
            "grafana": {"enabled": False},
        }
    return {
        "prometheus": _prometheus(context),
        "alertmanager": _alertmanager(context),
        "grafana": _grafana(context),
    }


def _agent(context: Context) -> dict[str, Any]:
    """A Prometheus that keeps nothing but what it has not sent."""
    needed = size(context, monitoring_of(context))
    memory = needed.memory.value // 2**20
    values = agent.values(context)
    spec = {
        **values["prometheusSpec"],
        "resources": resources(needed.cpu, memory),
        "storageSpec": _claim(str(agent.DISK)),
        **_selected("podMonitor", "probe", "scrapeConfig", "serviceMonitor"),
    }
    monitor = {"metricRelabelings": _keep("prometheus-agent")}
    return {**values, "serviceMonitor": monitor, "prometheusSpec": spec}


_OFF = ("coreDns", "kubeControllerManager", "kubeEtcd", "kubeProxy", "kubeScheduler")
# container metrics of the node itself and of a pod's sandbox name no container
_OF_PODS = {"action": "drop", "sourceLabels": ["container"], "regex": "POD|"}


def _keep(*exporters: str, readers: Collection[str] = ()) -> list[dict[str, Any]]:
    """The relabelling that drops all metrics but those that are listed."""
    names = kept(*exporters, readers=readers)
    return [{"action": "keep", "sourceLabels": ["__name__"], "regex": names}]


def _claim(disk: str) -> dict[str, Any]:
    """A volume of the StorageClass that monitoring has."""
    spec = {
        "storageClassName": CLASS,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": disk}},
    }
    return {"volumeClaimTemplate": {"spec": spec}}


def _alertmanager(context: Context) -> dict[str, Any]:
    """Alertmanager, which sends nothing unless the spec says to whom."""
    monitor = {"metricRelabelings": _keep("alertmanager")}
    storage = _claim(str(ALERTMANAGER_DISK))
    spec: dict[str, Any] = {"resources": resources(*_ALERTMANAGER), "storage": storage}
    notifications = alerts_of(context)
    if notifications is None:
        return {"serviceMonitor": monitor, "alertmanagerSpec": spec}

    secrets = alertmanager.mounted(notifications)
    if secrets:
        spec["secrets"] = secrets
    sent = alertmanager.values(context.name, notifications)
    return {"serviceMonitor": monitor, "alertmanagerSpec": spec, **sent}


def _prometheus(context: Context) -> dict[str, Any]:
    monitoring = monitoring_of(context)
    needed = size(context, monitoring)
    disk = monitoring.disk or needed.disk
    memory = needed.memory.value // 2**20
    return {
        "serviceMonitor": {"metricRelabelings": _keep("prometheus")},
        "prometheusSpec": {
            "retention": str(monitoring.retention),
            # Nine tenths of the disk: what comes first deletes the oldest, and a full disk stops it.
            "retentionSize": f"{disk.value * 9 // 10 // 2**20}MB",
            "scrapeInterval": str(monitoring.interval),
            "evaluationInterval": str(monitoring.interval),
            "resources": resources(needed.cpu, memory),
            "storageSpec": _claim(str(disk)),
            **_selected("podMonitor", "probe", "rule", "scrapeConfig", "serviceMonitor"),
        },
    }


def _selected(*kinds: str) -> dict[str, bool]:
    """Whatever monitors and rules there are: people bring charts whose monitors lack the release's label."""
    return {f"{kind}SelectorNilUsesHelmValues": False for kind in kinds}


def _node_labels(context: Context) -> list[str]:
    """The labels of nodes that alerts name: those of every cluster, and of what launches the nodes of a pool."""
    launchers = [launcher_asked(context, pool) for pool in PoolsSection.of(context.spec).node_pools]
    of_launchers = {label for each in launchers for label in (each.part_label, *each.ready_labels)}
    return [*_NODE_LABELS, *sorted(of_launchers.difference(_NODE_LABELS))]


def _state_metrics(context: Context, reading: Collection[str]) -> dict[str, Any]:
    """kube-state-metrics, with the labels and the objects of others that alerts name: what nodes are, and which job a
    pod is of."""
    named = {"nodes": _node_labels(context), "pods": pod_labels(context).runs}
    labels = [f"{kind}=[{','.join(keys)}]" for kind, keys in named.items()]
    rules = [
        {"apiGroups": [group], "resources": list(kinds.values()), "verbs": ["list", "watch"]}
        for (group, _), kinds in _FLUX_KINDS.items()
    ]
    rules.append({"apiGroups": [_JOBSET], "resources": ["jobsets"], "verbs": ["list", "watch"]})
    monitor = {
        "http": {
            "metricRelabelings": _keep("kube-state-metrics", "custom-resources", readers=reading)
        }
    }
    return {
        "resources": resources(*_STATE_METRICS),
        "metricLabelsAllowlist": labels,
        "prometheus": {"monitor": monitor},
        "rbac": {"extraRules": rules},
        "customResourceState": {"enabled": True, "config": _custom_resources()},
    }


def _custom_resources() -> dict[str, Any]:
    """What kube-state-metrics says of JobSets and of Flux' objects (v2.20.0,
    docs/metrics/extend/customresourcestate-metrics.md)."""
    objects = [
        _flux_resource(group, version, kind)
        for (group, version), kinds in _FLUX_KINDS.items()
        for kind in kinds
    ]
    return {"kind": "CustomResourceStateMetrics", "spec": {"resources": [_jobset(), *objects]}}


def _jobset() -> dict[str, Any]:
    """Its restarts and how many it may have (jobset.x-k8s.io/v1alpha2, v0.12.0)."""
    return {
        "groupVersionKind": {"group": _JOBSET, "version": "v1alpha2", "kind": "JobSet"},
        "metricNamePrefix": "trainyard_jobset",
        "labelsFromPath": {"namespace": ["metadata", "namespace"], "jobset": ["metadata", "name"]},
        "metrics": [
            _gauge("restarts", "restarts of all its pods", ["status", "restarts"]),
            _gauge("max_restarts", "how many it may have", _MAX_RESTARTS),
        ],
    }


_MAX_RESTARTS = ["spec", "failurePolicy", "maxRestarts"]


def _gauge(name: str, help: str, path: list[str]) -> dict[str, Any]:
    each = {"type": "Gauge", "gauge": {"path": path, "nilIsZero": True}}
    return {"name": name, "help": help, "each": each}


def _flux_resource(group: str, version: str, kind: str) -> dict[str, Any]:
    """Whether an object of Flux is ready, by the name and labels of fluxcd/flux2-monitoring-example 7ab65dc8."""
    info = {"type": "Info", "info": {"labelsFromPath": {"name": ["metadata", "name"]}}}
    return {
        "groupVersionKind": {"group": group, "version": version, "kind": kind},
        "metricNamePrefix": "gotk",
        "metrics": [
            {
                "name": "resource_info",
                "help": "state of an object of Flux",
                "each": info,
                "commonLabels": {"kind": kind},
                "labelsFromPath": {
                    "exported_namespace": ["metadata", "namespace"],
                    "ready": ["status", "conditions", "[type=Ready]", "status"],
                    "suspended": ["spec", "suspend"],
                },
            }
        ],
    }


def _grafana(context: Context) -> dict[str, Any]:
    """Grafana with our dashboards alone (chart grafana 12.11.1, Grafana 13.2.0).

    Its sidecars may read ConfigMaps of their own namespace, and no Secret: by default they read both, everywhere. The
    chart makes up the password of `admin`, and keeps it in the Secret `grafana` (templates/_helpers.tpl). Nothing of it
    is on a disk: dashboards and data sources are those of ConfigMaps.
    """
    return {
        "fullnameOverride": "grafana",
        "defaultDashboardsEnabled": False,
        "rbac": {"namespaced": True},
        "resources": resources(*_GRAFANA),
        "serviceMonitor": {"enabled": False},
        "sidecar": {
            "resources": resources(*_SIDECAR),
            "dashboards": {"resource": "configmap", "searchNamespace": namespace(context)},
            "datasources": {"resource": "configmap"},
        },
        "testFramework": {"enabled": False},
        "grafana.ini": {
            # Nothing is sent to its maker, and what the image has is not replaced when it starts.
            "analytics": {
                "check_for_updates": False,
                "check_for_plugin_updates": False,
                "reporting_enabled": False,
            },
            "plugins": {"preinstall_auto_update": False},
        },
    }


def _node_exporter() -> dict[str, Any]:
    """One on each node; of a node's CPUs the idle seconds say what is used."""
    idle = {
        "action": "drop",
        "sourceLabels": ["__name__", "mode"],
        "regex": "node_cpu_seconds_total;(user|nice|system|iowait|irq|softirq|steal)",
    }
    node = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    return {
        "tolerations": EVERYWHERE,
        "resources": resources(_NODE_CPU, _NODE_MEMORY),
        "prometheus": {
            "monitor": {"relabelings": [node], "metricRelabelings": [*_keep("node-exporter"), idle]}
        },
    }


_OPERATOR, _ALERTMANAGER, _STATE_METRICS = (50, 128), (50, 128), (50, 256)
_GRAFANA, _SIDECAR, _SIDECARS = (100, 256), (10, 96), 2
_NODE_CPU, _NODE_MEMORY = 30, 64


def sized(context: Context) -> tuple[Controller, ...]:
    """Prometheus, by the series of the cluster, and what works on samples that it keeps."""
    needed = size(context, monitoring_of(context))
    memory = needed.memory.value // 2**20
    path = ("prometheus", "prometheusSpec", "resources")
    prometheus = Controller("prometheus", 1, needed.cpu, memory, OURS, resources=path)
    if is_managed(context):
        return (prometheus,)
    return (
        prometheus,
        Controller("alertmanager", 1, *_ALERTMANAGER, OURS),
        Controller(
            "grafana",
            1,
            _GRAFANA[0] + _SIDECARS * _SIDECAR[0],
            _GRAFANA[1] + _SIDECARS * _SIDECAR[1],
            OURS,
        ),
    )


def endpoints(context: Context) -> tuple[Endpoint, ...]:
    """Where samples are sent, if they are not kept here."""
    if not is_managed(context):
        return ()
    source = "Amazon Managed Service for Prometheus user guide, AMP-and-interface-VPC"
    return (Endpoint("aps-workspaces", "Prometheus sends samples", source),)


ADD_ON = AddOn(
    component=STACK,
    wanted=is_wanted,
    at=key_route(),
    values=values,
    awaited=agent.awaited,
    reach=("prometheus-node-exporter", "tolerations"),
    # With its CRDs every monitor and rule would go.
    stays=True,
    needs=("aws-ebs-csi-driver",),
    endpoints=endpoints,
    asks_jobs=scraper,
    daemons=(
        Daemon(
            "node-exporter",
            _NODE_CPU,
            _NODE_MEMORY,
            OURS,
            kept=False,
            resources=("prometheus-node-exporter", "resources"),
        ),
    ),
    sized=sized,
    controllers=(
        Controller("prometheus-operator", 1, *_OPERATOR, OURS),
        Controller("kube-state-metrics", 1, *_STATE_METRICS, OURS),
    ),
)
