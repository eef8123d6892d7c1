"""Lower: the node-problem-detector (config v1.35, DaemonSet) and the controller that acts on its conditions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from trainyard.eks.addons.node_problem_detector import REQUESTS
from trainyard.eks.health.plan import (
    BURN_IN_RIGHTS,
    DETECTOR_RIGHTS,
    TAINTER_RIGHTS,
    BurnIn,
    ConditionTainter,
    MonitorRule,
    ProblemDetector,
    ProblemMonitor,
)
from trainyard.eks.rbac.plan import Access, PolicyRule, Subject
from trainyard.eks.teams.lower import access_bodies
from trainyard.language.places import Key
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import (
    NO_SUBSTITUTION,
    fields_given,
    manifest_in,
    object_head,
    toleration_bodies,
    without_rights,
)
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

FOLDER = "health"
ADMISSION = "admissionregistration.k8s.io/v1"
CONFIG = "/config"


def lower(plan: Plan) -> Iterator[Manifest]:
    """ConfigMap, DaemonSet and RBAC of each detector and each tainter."""
    for detector in plan.of(ProblemDetector):
        for body in detector_bodies(detector):
            yield manifest_in(FOLDER, body, detector.at)
    for burn_in in plan.of(BurnIn):
        for body in burn_in_bodies(burn_in):
            yield manifest_in(FOLDER, body, burn_in.at, _named_after_pool(burn_in))
    for tainter in plan.of(ConditionTainter):
        for body in tainter_bodies(tainter):
            yield manifest_in(FOLDER, body, tainter.at)


def detector_bodies(detector: ProblemDetector) -> list[Body]:
    """Everything that a detector is made of. Its pods restart when the configuration changes."""
    name, namespace = detector.name, detector.namespace
    data = {}
    for node in detector.monitors:
        text = json.dumps(monitor(node), indent=2)
        data[f"{node.name}.json"] = f"{text}\n"
    daemon_set = _daemon_set(detector, _digest(data))
    return [*_around(detector, data, DETECTOR_RIGHTS), *_own_node_only(name, namespace), daemon_set]


def _around(
    node: ProblemDetector | ConditionTainter | BurnIn,
    data: dict[str, str],
    rules: tuple[PolicyRule, ...],
) -> list[Body]:
    """What the pods of a workload read, and their service account with its rights."""
    name, namespace = node.name, node.namespace
    config_map = object_head("v1", "ConfigMap", name, namespace, annotations=NO_SUBSTITUTION)
    config_map["data"] = data
    service_account = object_head("v1", "ServiceAccount", name, namespace)
    account = Subject("ServiceAccount", name, namespace)
    access = Access(at=node.at, name=name, namespace="", rules=rules, subjects=(account,))
    return [config_map, service_account, *access_bodies(access)]


_NODE_KEY = "authentication.kubernetes.io/node-name"
"""The node of the pod to which a token is bound (kubernetes.io, service-accounts-admin; stable in 1.32)."""


def _own_node_only(name: str, namespace: str) -> tuple[Body, Body]:
    """A ValidatingAdmissionPolicy and its binding: the pods of a DaemonSet change the node on which they run, and no
    other. Rights to nodes cannot say that."""
    user = f"system:serviceaccount:{namespace}:{name}"
    extra = "request.userInfo.extra"
    own = (
        f"has({extra}) && '{_NODE_KEY}' in {extra}"
        f" && {extra}['{_NODE_KEY}'][0] == object.metadata.name"
    )
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["nodes", "nodes/status"],
    }
    policy = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [
            {"name": "by-these-pods", "expression": f"request.userInfo.username == '{user}'"}
        ],
        "validations": [
            {"expression": own, "message": f"{name} may change the node of its own pod only"}
        ],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return (
        {**object_head(ADMISSION, "ValidatingAdmissionPolicy", name), "spec": policy},
        {**object_head(ADMISSION, "ValidatingAdmissionPolicyBinding", name), "spec": binding},
    )


def _program(name: str) -> dict[str, str]:
    """A program that runs in the cluster, as a ConfigMap has it."""
    file = Path(__file__).parent / "scripts" / name
    return {file.name: file.read_text(encoding="utf-8")}


def _digest(data: dict[str, str]) -> str:
    text = json.dumps(data, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def monitor(node: ProblemMonitor) -> Body:
    """A monitor's configuration file (node-problem-detector, docs of the system log monitor)."""
    conditions = [
        {"type": type_, "reason": reason, "message": message}
        for type_, reason, message in node.conditions
    ]
    return {
        "plugin": node.plugin,
        "logPath": "/dev/kmsg",
        "lookback": "5m",
        "bufferSize": 10,
        "source": node.source,
        "conditions": conditions,
        "rules": [_rule(rule) for rule in node.rules],
    }


def _rule(rule: MonitorRule) -> Body:
    return fields_given(
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
        "resources": {"requests": dict(REQUESTS), "limits": {"memory": REQUESTS["memory"]}},
        # /dev/kmsg cannot be read otherwise (node-problem-detector deployment manifests).
        "securityContext": {"privileged": True},
        "volumeMounts": [
            {"name": "config", "mountPath": CONFIG, "readOnly": True},
            {"name": "kmsg", "mountPath": "/dev/kmsg", "readOnly": True},
        ],
    }
    spec = fields_given(
        serviceAccountName=name,
        priorityClassName="system-node-critical",
        nodeSelector=dict(detector.node_selector),
        tolerations=toleration_bodies(detector.tolerations),
        containers=[container],
        volumes=[
            {"name": "config", "configMap": {"name": name}},
            {"name": "kmsg", "hostPath": {"path": "/dev/kmsg", "type": "CharDevice"}},
        ],
    )
    whole = object_head("apps/v1", "DaemonSet", name, detector.namespace)
    return {**whole, "spec": _daemon(selector, digest, "25%", spec)}


def _daemon(selector: dict[str, str], digest: str, at_once: str, pod: Mapping[str, Any]) -> Body:
    """apps/v1 DaemonSetSpec. A new configuration, which ``digest`` stands for, makes new pods, so many ``at_once``."""
    metadata = {"labels": selector, "annotations": {"trainyard.dev/config": digest}}
    return {
        "selector": {"matchLabels": selector},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": at_once}},
        "template": {"metadata": metadata, "spec": pod},
    }


def _command(detector: ProblemDetector) -> list[str]:
    files = ",".join(f"{CONFIG}/{node.name}.json" for node in detector.monitors)
    return ["/node-problem-detector", "--logtostderr", f"--config.system-log-monitor={files}"]


def tainter_bodies(tainter: ConditionTainter) -> list[Body]:
    """A Deployment that watches node conditions and sets or lifts the taint. Its program needs only Python."""
    data = _program("condition_tainter.py")
    deployment = _deployment(tainter, _digest(data))
    return [*_around(tainter, data, TAINTER_RIGHTS), deployment]


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
        "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": without_rights(user=65532),
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
        **object_head("apps/v1", "Deployment", name, tainter.namespace),
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": selector},
            "template": {"metadata": metadata, "spec": spec},
        },
    }


_TEST = """\
set -euo pipefail
[ -e /work/needed ] || exit 0
PATH=$PATH:/opt/amazon/efa/bin:/opt/nccl-tests/build
gpus=$(nvidia-smi --list-gpus | wc -l)
echo "$gpus GPUs of $GPUS"
[ "$gpus" -eq "$GPUS" ]
if [ "$EFA" -gt 0 ]; then
  efa=$(fi_info -p efa -t FI_EP_RDM | grep -c 'provider: efa' || true)
  echo "$efa EFA interfaces of $EFA"
  [ "$efa" -ge "$EFA" ]
  echo "may lock memory: $(ulimit -l) KiB"
fi
all_reduce_perf -b 64M -e 4G -f 2 -g "$gpus" -c 1 -n 20 | tee /tmp/nccl-test.log
grep -q 'Out of bounds values *: *0 OK' /tmp/nccl-test.log
"""
# The image starts `nv-hostengine -n` (NVIDIA/DCGM 72fa3fe, docker/Dockerfile.ubuntu22.04), which listens on 127.0.0.1
# alone, and so in this pod alone: the engine of the node monitoring agent is another one. dcgmi ends with the result of
# the diagnostics, which is not 0 where a test of a GPU failed or none ran (dcgmi/Diag.cpp, GetFailureResult).
_DIAGNOSE = """\
set -euo pipefail
[ -e /work/needed ] || exit 0
nv-hostengine --no-daemon --log-level NONE &
for _ in $(seq 60); do
  if dcgmi discovery --list > /dev/null 2>&1; then break; fi
  sleep 1
done
dcgmi discovery --list
dcgmi diag --run "$LEVEL"
"""
# NVIDIA/aicr bc05c6b, validators/performance/testdata/h100/eks/runtime.yaml: where the image has its libraries.
_LIBRARIES = (
    "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu:/opt/amazon/efa/lib:/opt/amazon/openmpi/lib:"
    "/opt/nccl/build/lib:/usr/local/nvidia/lib"
)


def _named_after_pool(node: BurnIn) -> Places:
    """What has the name of the pool in it."""
    paths: tuple[tuple[Key, ...], ...] = (
        ("metadata", "name"),
        ("spec", "selector"),
        ("spec", "template", "metadata", "labels"),
    )
    return {path: node.where("name") for path in paths}


def burn_in_bodies(node: BurnIn) -> Iterator[Body]:
    """A program, the rights that it needs, and the pods that run it around the test."""
    name, namespace = node.name, node.namespace
    data = _program("burn_in.py")
    yield from _around(node, data, BURN_IN_RIGHTS)
    yield from _own_node_only(name, namespace)
    yield _burn_in_set(node, _digest(data))


def _burn_in_set(node: BurnIn, digest: str) -> Body:
    """It asks for nothing: what a job gets of a node is the same with and without it, and the test runs before any."""
    selector = {"app.kubernetes.io/name": node.name}
    spec = {
        "serviceAccountName": node.name,
        "priorityClassName": "system-node-critical",
        "nodeSelector": dict(node.node_selector),
        "tolerations": [{"operator": "Exists"}],
        "initContainers": [_step(node, "needed"), *_diagnose(node), _test(node)],
        "containers": [_step(node, "passed")],
        "volumes": [
            {"name": "app", "configMap": {"name": node.name}},
            {"name": "work", "emptyDir": {}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        ],
    }
    whole = object_head("apps/v1", "DaemonSet", node.name, node.namespace)
    return {**whole, "spec": _daemon(selector, digest, "100%", spec)}


def _step(node: BurnIn, step: str) -> dict[str, Any]:
    node_name = {"fieldRef": {"fieldPath": "spec.nodeName"}}
    return {
        "name": step,
        "image": node.python,
        "command": ["python", "-u", "/app/burn_in.py"],
        "args": [step, f"--taint={node.taint_key}"],
        "env": [{"name": "NODE_NAME", "valueFrom": node_name}],
        "securityContext": without_rights(),
        "volumeMounts": [
            {"name": "app", "mountPath": "/app", "readOnly": True},
            {"name": "work", "mountPath": "/work"},
        ],
    }


def _diagnose(node: BurnIn) -> Iterator[dict[str, Any]]:
    """DCGM's diagnostics of each GPU, where the pool asks for them."""
    if not node.level:
        return
    variables = {"LEVEL": str(node.level)}
    yield _with_devices("diagnose", node.dcgm, _DIAGNOSE, variables)


def _test(node: BurnIn) -> dict[str, Any]:
    variables = {"GPUS": str(node.gpus), "EFA": str(node.efa), "LD_LIBRARY_PATH": _LIBRARIES}
    container = _with_devices("test", node.image, _TEST, variables)
    container["volumeMounts"].append({"name": "shm", "mountPath": "/dev/shm"})
    return container


def _with_devices(
    name: str, image: str, script: str, variables: Mapping[str, str]
) -> dict[str, Any]:
    """A container with all devices of the node, without asking the device plugins for them: jobs do, and must find
    them free."""
    env = {
        **variables,
        "NVIDIA_VISIBLE_DEVICES": "all",
        "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
    }
    set_to = [{"name": key, "value": value} for key, value in env.items()]
    return {
        "name": name,
        "image": image,
        "command": ["/bin/bash", "-c", script],
        "env": set_to,
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "work", "mountPath": "/work", "readOnly": True}],
    }
