"""Lower: monitors and rules (prometheus-operator v0.93.1), and the exporter of EFA."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from trainyard.extensions.observability.monitoring.plan import (
    API,
    EfaExporter,
    Monitor,
    Rule,
    RuleGroups,
)
from trainyard.output.lowering.body import (
    NO_SUBSTITUTION,
    fields_given,
    manifest_in,
    object_head,
    resources,
    without_rights,
)
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

FOLDER = "monitoring"
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105


def lower(plan: Plan) -> Iterator[Manifest]:
    """A file an object."""
    for monitor in plan.of(Monitor):
        yield manifest_in(FOLDER, monitor_body(monitor), monitor.at)
    for groups in plan.of(RuleGroups):
        yield manifest_in(FOLDER, rules_body(groups), groups.at)
    for exporter in plan.of(EfaExporter):
        for body in exporter_bodies(exporter):
            yield manifest_in(FOLDER, body, exporter.at)


def monitor_body(monitor: Monitor) -> Body:
    """ServiceMonitor or PodMonitor. What a controller says of its own certificate nobody signed."""
    kind = "PodMonitor" if monitor.pods else "ServiceMonitor"
    keep = {"action": "keep", "sourceLabels": ["__name__"], "regex": "|".join(monitor.kept)}
    node = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    endpoint = fields_given(
        port=monitor.port,
        interval=monitor.interval,
        scheme="https" if monitor.secure else "",
        bearerTokenFile=_TOKEN if monitor.secure else "",
        tlsConfig={"insecureSkipVerify": True} if monitor.secure else None,
        relabelings=[node] if monitor.pods else [],
        metricRelabelings=[keep] if monitor.kept else [],
    )
    spec = {
        "namespaceSelector": {"matchNames": list(monitor.namespaces)},
        "selector": {"matchLabels": dict(monitor.selector)},
        "podMetricsEndpoints" if monitor.pods else "endpoints": [endpoint],
    }
    whole = object_head(API, kind, monitor.name, monitor.namespace, labels=monitor.labels)
    return {**whole, "spec": spec}


def rules_body(groups: RuleGroups) -> Body:
    """PrometheusRule."""
    whole = object_head(
        API,
        "PrometheusRule",
        groups.name,
        groups.namespace,
        labels=groups.labels,
        annotations=NO_SUBSTITUTION,
    )
    return {**whole, "spec": {"groups": groups_body(groups)}}


def groups_body(groups: RuleGroups) -> list[Body]:
    """The groups as Prometheus reads them from a file."""
    return [
        {"name": name, "rules": [_rule(rule) for rule in rules]}
        for name, rules in groups.groups.items()
    ]


def _rule(rule: Rule) -> Body:
    named = {"record": rule.name} if rule.record else {"alert": rule.name}
    return {
        **named,
        "expr": rule.expr,
        **fields_given(
            **{"for": rule.wait}, labels=dict(rule.labels), annotations=dict(rule.annotations)
        ),
    }


def exporter_bodies(exporter: EfaExporter) -> Iterator[Body]:
    """The program and the pods that run it: without rights, without a token, and with nothing of the node but `/sys`,
    to read."""
    name, namespace = exporter.name, exporter.namespace
    file = Path(__file__).parent / "scripts" / "efa_exporter.py"
    data = {file.name: file.read_text(encoding="utf-8")}
    config_map = object_head("v1", "ConfigMap", name, namespace, annotations=NO_SUBSTITUTION)
    yield {**config_map, "data": data}
    digest = sha256(json.dumps(data).encode()).hexdigest()[:16]
    yield {
        **object_head("apps/v1", "DaemonSet", name, namespace),
        "spec": _daemon_set(exporter, digest),
    }


def _daemon_set(exporter: EfaExporter, digest: str) -> Body:
    selector = {"app.kubernetes.io/name": exporter.name}
    types = {
        "key": "node.kubernetes.io/instance-type",
        "operator": "In",
        "values": list(exporter.instance_types),
    }
    terms = {"nodeSelectorTerms": [{"matchExpressions": [types]}]}
    pod = {
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
        "tolerations": [{"operator": "Exists"}],
        "containers": [_container(exporter)],
        "volumes": [
            {"name": "app", "configMap": {"name": exporter.name}},
            {"name": "sys", "hostPath": {"path": "/sys", "type": "Directory"}},
        ],
    }
    metadata = {"labels": selector, "annotations": {"trainyard.dev/config": digest}}
    return {
        "selector": {"matchLabels": selector},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}},
        "template": {"metadata": metadata, "spec": pod},
    }


def _container(exporter: EfaExporter) -> Body:
    return {
        "name": exporter.name,
        "image": exporter.image,
        "command": ["python", "-u", "/app/efa_exporter.py"],
        "args": [f"--port={exporter.port}"],
        "ports": [{"name": "metrics", "containerPort": exporter.port}],
        "resources": resources(exporter.cpu, exporter.memory),
        "securityContext": without_rights(user=65532),
        "volumeMounts": [
            {"name": "app", "mountPath": "/app", "readOnly": True},
            {"name": "sys", "mountPath": "/host/sys", "readOnly": True},
        ],
    }
