"""Target: the node-problem-detector (config v1.35, DaemonSet) and the controller that acts on its conditions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from compiler.manifest import Body, Manifest
from compiler.plan import Plan
from compiler.subjects.addons.node_problem_detector import REQUESTS
from compiler.subjects.health.plan import (
    ConditionTainter,
    MonitorRule,
    ProblemDetector,
    ProblemMonitor,
)
from compiler.subjects.namespaces.plan import Access, PolicyRule, Subject
from compiler.subjects.namespaces.target import access_bodies
from compiler.targets.body import NO_SUBSTITUTION, given, head, path, tolerations

FOLDER = "health"
CONFIG = "/config"


def lower(plan: Plan) -> Iterator[Manifest]:
    """ConfigMap, DaemonSet and RBAC of each detector and each tainter."""
    for detector in plan.of(ProblemDetector):
        for body in detector_bodies(detector):
            yield Manifest(body, path(FOLDER, body), detector.at)
    for tainter in plan.of(ConditionTainter):
        for body in tainter_bodies(tainter):
            yield Manifest(body, path(FOLDER, body), tainter.at)


def detector_bodies(detector: ProblemDetector) -> list[Body]:
    """Everything that a detector is made of. Its pods restart when the configuration changes."""
    name, namespace = detector.name, detector.namespace
    data = {}
    for node in detector.monitors:
        data[f"{node.name}.json"] = json.dumps(monitor(node), indent=2) + "\n"
    events = PolicyRule(
        ("", "events.k8s.io"), ("events",), ("create", "patch", "update")
    )
    access = Access(
        at=detector.at,
        name=name,
        namespace="",
        rules=(
            PolicyRule(("",), ("nodes",), ("get",)),
            PolicyRule(("",), ("nodes/status",), ("patch",)),
            events,
        ),
        subjects=(Subject("ServiceAccount", name, namespace),),
    )
    return [*_around(data, access), _daemon_set(detector, _digest(data))]


def _around(data: dict[str, str], access: Access) -> list[Body]:
    """What the pods of a workload read, and as whom they may do what."""
    account = access.subjects[0]
    name, namespace = account.name, account.namespace
    config_map = head("v1", "ConfigMap", name, namespace, annotations=NO_SUBSTITUTION)
    config_map["data"] = data
    service_account = head("v1", "ServiceAccount", name, namespace)
    return [config_map, service_account, *access_bodies(access)]


def _digest(data: dict[str, str]) -> str:
    return sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def monitor(node: ProblemMonitor) -> Body:
    """A monitor's configuration file (node-problem-detector, docs of system log monitor and custom plugin)."""
    conditions = [
        {"type": type_, "reason": reason, "message": message}
        for type_, reason, message in node.conditions
    ]
    if node.plugin == "custom":
        body: Body = {
            "plugin": "custom",
            "pluginConfig": {"skip_initial_status": node.skip_initial_status},
        }
    else:
        body = {
            "plugin": node.plugin,
            "logPath": "/dev/kmsg",
            "lookback": "5m",
            "bufferSize": 10,
        }
    return {
        **body,
        "source": node.source,
        "conditions": conditions,
        "rules": [_rule(rule) for rule in node.rules],
    }


def _rule(rule: MonitorRule) -> Body:
    return given(
        type="permanent" if rule.permanent else "temporary",
        condition=rule.condition,
        reason=rule.reason,
        pattern=rule.pattern,
    )


def _daemon_set(detector: ProblemDetector, digest: str) -> Body:
    name = detector.name
    selector = {"app.kubernetes.io/name": name}
    node_name = {"fieldRef": {"fieldPath": "spec.nodeName"}}
    container = {
        "name": name,
        "image": detector.image,
        "command": _command(detector),
        "env": [{"name": "NODE_NAME", "valueFrom": node_name}],
        "ports": [{"name": "exporter", "containerPort": 20257}],
        "resources": {
            "requests": dict(REQUESTS),
            "limits": {"memory": REQUESTS["memory"]},
        },
        # /dev/kmsg cannot be read otherwise (node-problem-detector deployment manifests).
        "securityContext": {"privileged": True},
        "volumeMounts": [
            {"name": "config", "mountPath": CONFIG, "readOnly": True},
            {"name": "kmsg", "mountPath": "/dev/kmsg", "readOnly": True},
        ],
    }
    spec = given(
        serviceAccountName=name,
        priorityClassName="system-node-critical",
        nodeSelector=dict(detector.node_selector),
        tolerations=tolerations(detector.tolerations),
        containers=[container],
        volumes=[
            {"name": "config", "configMap": {"name": name}},
            {"name": "kmsg", "hostPath": {"path": "/dev/kmsg", "type": "CharDevice"}},
        ],
    )
    metadata = {"labels": selector, "annotations": {"trainyard.dev/config": digest}}
    return {
        **head("apps/v1", "DaemonSet", name, detector.namespace),
        "spec": {
            "selector": {"matchLabels": selector},
            "updateStrategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "25%"},
            },
            "template": {"metadata": metadata, "spec": spec},
        },
    }


def _command(detector: ProblemDetector) -> list[str]:
    files: dict[bool, list[str]] = {False: [], True: []}
    for node in detector.monitors:
        files[node.plugin == "custom"].append(f"{CONFIG}/{node.name}.json")
    command = ["/node-problem-detector", "--logtostderr"]
    if files[False]:
        command.append(f"--config.system-log-monitor={','.join(files[False])}")
    if files[True]:
        command.append(f"--config.custom-plugin-monitor={','.join(files[True])}")
    return command


def tainter_bodies(tainter: ConditionTainter) -> list[Body]:
    """A Deployment that watches node conditions and sets or lifts the taint. Its program needs only Python."""
    name, namespace = tainter.name, tainter.namespace
    file = Path(__file__).parent / "scripts" / "condition_tainter.py"
    data = {file.name: file.read_text(encoding="utf-8")}
    access = Access(
        at=tainter.at,
        name=name,
        namespace="",
        rules=(PolicyRule(("",), ("nodes",), ("get", "list", "patch")),),
        subjects=(Subject("ServiceAccount", name, namespace),),
    )
    return [*_around(data, access), _deployment(tainter, _digest(data))]


def _deployment(tainter: ConditionTainter, digest: str) -> Body:
    name = tainter.name
    selector = {"app.kubernetes.io/name": name}
    options = [f"--condition={condition}" for condition in tainter.conditions]
    options.append(f"--taint={tainter.taint_key}")
    container = {
        "name": name,
        "image": tainter.image,
        "command": ["python", "-u", "/app/condition_tainter.py"],
        "args": options,
        "resources": {
            "requests": {"cpu": "20m", "memory": "64Mi"},
            "limits": {"memory": "128Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [{"name": "app", "mountPath": "/app", "readOnly": True}],
    }
    spec = {
        "serviceAccountName": name,
        "priorityClassName": "system-cluster-critical",
        "containers": [container],
        "volumes": [{"name": "app", "configMap": {"name": name}}],
    }
    metadata = {"labels": selector, "annotations": {"trainyard.dev/config": digest}}
    return {
        **head("apps/v1", "Deployment", name, tainter.namespace),
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": selector},
            "template": {"metadata": metadata, "spec": spec},
        },
    }
