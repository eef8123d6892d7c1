"""Fluent Bit on each node, which reads the files of its pods and sends their lines to CloudWatch."""

from __future__ import annotations

from typing import Any

from trainyard.eks.addons.addon import EVERYWHERE, OURS, AddOn, Daemon, Endpoint, Setting
from trainyard.eks.jobs.pod_labels import pod_labels
from trainyard.extensions.observability.logs import fluent_bit
from trainyard.extensions.observability.logs.names import (
    FLUENT_BIT,
    TO_CLOUD_WATCH,
    key_route,
    log_group,
    to_cloud_watch,
)
from trainyard.output.lowering.body import resources, without_rights
from trainyard.plan.context import Context

_CPU, _MEMORY = 50, 128


def values(setting: Setting) -> dict[str, Any]:
    """fluent-bit 0.58.1 chart values (Fluent Bit 5.1.1).

    It runs as root, as which the files of pods are written, and has no other right. Of the API server it asks for pods
    and namespaces, by the chart's own rules.
    """
    context = setting.context
    state = {"name": "state", "mountPath": fluent_bit.STATE}
    folder = {"path": fluent_bit.STATE, "type": "DirectoryOrCreate"}
    return {
        "serviceAccount": {"name": FLUENT_BIT},
        "config": {
            "service": fluent_bit.service(),
            "inputs": fluent_bit.inputs(),
            "filters": fluent_bit.filters(),
            "outputs": fluent_bit.outputs(context.spec.region, log_group(context)),
            "customParsers": "",
        },
        "luaScripts": {fluent_bit.SCRIPT: fluent_bit.script(pod_labels(context))},
        "daemonSetVolumes": [{"name": "varlog", "hostPath": {"path": "/var/log"}}],
        "daemonSetVolumeMounts": [{"name": "varlog", "mountPath": "/var/log", "readOnly": True}],
        "extraVolumes": [{"name": "state", "hostPath": folder}],
        "extraVolumeMounts": [state],
        "priorityClassName": "system-node-critical",
        "resources": resources(_CPU, _MEMORY),
        "securityContext": without_rights(),
        "testFramework": {"enabled": False},
        "tolerations": EVERYWHERE,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}},
    }


def endpoints(context: Context) -> tuple[Endpoint, ...]:
    """Where it sends lines."""
    return (TO_CLOUD_WATCH,)


ADD_ON = AddOn(
    component=FLUENT_BIT,
    wanted=to_cloud_watch,
    at=key_route() / "cloudWatch",
    values=values,
    endpoints=endpoints,
    reach=("tolerations",),
    daemons=(Daemon(FLUENT_BIT, _CPU, _MEMORY, OURS, kept=False, resources=("resources",)),),
)
