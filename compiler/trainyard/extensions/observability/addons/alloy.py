"""Alloy on each node, which reads the files of its pods and sends their lines to Loki."""

from __future__ import annotations

from typing import Any

from trainyard.eks.addons.addon import EVERYWHERE, OURS, AddOn, Daemon, Setting
from trainyard.eks.jobs.pod_labels import pod_labels
from trainyard.extensions.observability.logs.names import ALLOY, LOKI, address, is_wanted, key_route
from trainyard.extensions.observability.logs.pipeline import POSITIONS, configuration
from trainyard.output.lowering.body import resources, without_rights

_CPU, _MEMORY = 50, 192
_READS = ["get", "list", "watch"]


def values(setting: Setting) -> dict[str, Any]:
    """alloy 1.11.1 chart values (Alloy v1.18.1).

    It runs as root, as which the files of pods are written, and has no other right. Of the API server it asks for pods;
    the chart's own rules let it read all Secrets.
    """
    context = setting.context
    push = f"{address(context)}/loki/api/v1/push"
    return {
        "alloy": {
            "configMap": {"content": configuration(push, pod_labels(context))},
            "enableReporting": False,
            "mounts": {"varlog": True, "extra": [{"name": "positions", "mountPath": POSITIONS}]},
            "resources": resources(_CPU, _MEMORY),
            "securityContext": without_rights(),
            "storagePath": POSITIONS,
        },
        "configReloader": {"enabled": False},
        "controller": {
            "priorityClassName": "system-node-critical",
            "tolerations": EVERYWHERE,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}},
            "volumes": {"extra": [_positions(POSITIONS)]},
        },
        "crds": {"create": False},
        "rbac": {
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": _READS}],
            "clusterRules": [{"apiGroups": [""], "resources": ["namespaces"], "verbs": _READS}],
        },
        "service": {"enabled": False},
    }


def _positions(path: str) -> dict[str, Any]:
    return {"name": "positions", "hostPath": {"path": path, "type": "DirectoryOrCreate"}}


ADD_ON = AddOn(
    component=ALLOY,
    wanted=is_wanted,
    at=key_route() / LOKI,
    values=values,
    reach=("controller", "tolerations"),
    # It would try again until Loki is there.
    after=(LOKI,),
    daemons=(Daemon(ALLOY, _CPU, _MEMORY, OURS, kept=False, resources=("alloy", "resources")),),
)
