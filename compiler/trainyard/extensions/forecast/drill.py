"""A drill: a fatal Xid, written to one node's kernel log as the driver writes it, and what must follow.

The GPU is not touched. Whoever writes to ``/dev/kmsg`` needs the rights of the node (kernel.org, Documentation/ABI/
testing/dev-kmsg), so the pod is privileged; node-problem-detector reads what any process writes there (its README,
"Try It Out").
"""

from __future__ import annotations

import re

from trainyard.eks.health.plan import ConditionTainter, ProblemDetector
from trainyard.output.lowering.body import object_head
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan

XID = 79
"""GPU has fallen off the bus: fatal in every list of the catalog."""
_KEPT_SECONDS = 600
_MESSAGE = "NVRM: Xid (PCI:0000:00:1e): {}, pid=0, name=drill, written by a drill"


class NoDrillError(Exception):
    """Nothing would come of it; the message says why, and what to write instead."""


def drill(plan: Plan, node: str, xid: int = XID) -> Manifest:
    """The Job that writes one line to the kernel's log of a node.

    Raises ``NoDrillError`` where no detector reads it, or none acts on this Xid.
    """
    tainter = plan.one(ConditionTainter)
    if tainter is None:
        raise NoDrillError(
            "nothing in this cluster reads the kernel's log: the problem detector does, in a cluster with NVIDIA GPUs "
            "and without `health.nodeProblemDetector: false`"
        )
    message = _MESSAGE.format(xid)
    if not _is_seen(plan, message):
        fatal = ", ".join(map(str, _seen(plan)))
        raise NoDrillError(
            f"Xid {xid} is not fatal, and nothing follows from it: write one of {fatal}"
        )
    return _job(tainter, node, message)


def _job(tainter: ConditionTainter, node: str, message: str) -> Manifest:
    """It tolerates all taints, and is deleted ten minutes later."""
    name = f"drill-{node.partition('.')[0]}"
    body = object_head("batch/v1", "Job", name, tainter.namespace)
    write = f"open('/dev/kmsg', 'w').write({f'<2>{message}'!r})"
    container = {
        "name": "kernel-log",
        "image": tainter.image,
        "command": ["python", "-c", write],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}},
        "securityContext": {"privileged": True, "runAsUser": 0},
    }
    pod = {
        "automountServiceAccountToken": False,
        "containers": [container],
        "nodeSelector": {"kubernetes.io/hostname": node},
        "restartPolicy": "Never",
        "tolerations": [{"operator": "Exists"}],
    }
    body["spec"] = {
        "backoffLimit": 0,
        "ttlSecondsAfterFinished": _KEPT_SECONDS,
        "template": {"spec": pod},
    }
    return Manifest(body, f"{name}.yaml")


def _is_seen(plan: Plan, message: str) -> bool:
    patterns = _patterns(plan)
    return any(re.search(pattern, message) for pattern in patterns)


def _seen(plan: Plan) -> list[int]:
    """The Xids that the detectors set a condition for."""
    known = range(1, 200)
    messages = {xid: _MESSAGE.format(xid) for xid in known}
    return [xid for xid in known if _is_seen(plan, messages[xid])]


def _patterns(plan: Plan) -> list[str]:
    patterns = []
    for detector in plan.of(ProblemDetector):
        for monitor in detector.monitors:
            permanent = [rule for rule in monitor.rules if rule.permanent]
            patterns += [rule.pattern for rule in permanent if rule.pattern]
    return patterns


def steps(plan: Plan, node: str) -> list[str]:
    """What must follow, each with the command that shows it."""
    tainter = plan.one(ConditionTainter)
    if tainter is None:
        return []
    condition = tainter.conditions[0]
    taint = tainter.taint_key
    show = f"kubectl get node {node} -o jsonpath="
    return [
        f"A drill: it writes a fatal Xid to the kernel's log of node {node}, and does not touch the GPU.",
        "Take a node without a job: the node must be rebooted, or its taint taken away, before it runs another one.",
        f"1. The detector sets condition {condition} to True, within seconds:",
        f"     {show}'{{.status.conditions[?(@.type==\"{condition}\")].status}}'",
        f"2. The tainter adds taint {taint}:NoSchedule, so that no restarted gang lands here:",
        f"     {show}'{{.spec.taints}}'",
        "3. After a reboot the taint is gone by itself; without one, take it away:",
        f"     kubectl taint node {node} {taint}-",
    ]
