"""NVIDIA's exporter of the counters of GPUs.

It has a host engine of its own, inside its process. The node monitoring agent has another one, on port 5555 of the
node: it watches health, policies and fabric fields (eks-node-monitoring-agent 1.7.0, monitors/nvidia/dcgm/
dcgm_client.go) and no profiling counters. Of those, `DCGM_FI_PROF_*`, a GPU lets one engine read at a time
(NVIDIA/dcgm-exporter #7), and here that is the exporter's. Neither waits for the other, nor for its version.
"""

from __future__ import annotations

from typing import Any

from trainyard.core.pools.pools import GPU_PRESENT
from trainyard.eks.addons.addon import EVERYWHERE, OURS, AddOn, Daemon, Setting, on_gpus
from trainyard.eks.settings.spec import ClusterSection
from trainyard.extensions.observability.monitoring.names import (
    DCGM_EXPORTER,
    RELEASE,
    STACK,
    has_gpus,
    key_route,
    monitoring_of,
    readers,
)
from trainyard.extensions.observability.monitoring.names import is_wanted as monitored
from trainyard.extensions.observability.released_exporters import of
from trainyard.language.units import Duration
from trainyard.output.lowering.body import resources
from trainyard.plan.context import Context

_CPU, _MEMORY = 100, 256
"""Twice the memory that the chart requests: 512 MiB, its limit, are the limit here too (dcgm-exporter 4.8.2)."""
_AUTO_MODE_GPUS = "eks.amazonaws.com/instance-gpu-manufacturer"
_TIMEOUT = Duration(10)
_DRIVER = "DCGM_FI_DRIVER_VERSION, label, driver version"


def wanted(context: Context) -> bool:
    """Where a pool has GPUs and the spec asks for monitoring."""
    return monitored(context) and has_gpus(context)


def counters(context: Context) -> str:
    """The counters that are read, in the form of the exporter (etc/default-counters.csv)."""
    metrics = of(DCGM_EXPORTER, readers=readers(context))
    lines = [f"{metric.name}, {metric.type}, {metric.help}" for metric in metrics]
    return "".join(f"{line}\n" for line in (*lines, _DRIVER))


def values(setting: Setting) -> dict[str, Any]:
    """dcgm-exporter 4.8.2 chart values; its default tolerations are of the control plane alone.

    A sample says the pod that has the GPU, if any. The labels of the exporter's own pod would stand in their place
    where no pod has it, so they are dropped, and the node's name is added.
    """
    context = setting.context
    interval = monitoring_of(context).interval
    node = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    own = {"action": "labeldrop", "regex": "pod|namespace|container|service|endpoint"}
    return {
        "customMetrics": counters(context),
        "tolerations": EVERYWHERE,
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [_gpu_nodes(context)]}]
                }
            }
        },
        "resources": resources(_CPU, _MEMORY),
        **_privileges(context),
        "serviceMonitor": {
            "interval": str(interval),
            # The operator refuses a timeout above the interval; the chart's is 10 seconds.
            "scrapeTimeout": str(min(interval, _TIMEOUT, key=lambda each: each.seconds)),
            "additionalLabels": RELEASE,
            "relabelings": [node, own],
        },
    }


def _gpu_nodes(context: Context) -> dict[str, Any]:
    """The label of nodes with GPUs: ours, or that of EKS Auto Mode, whose nodes have no labels of GPU operators (EKS
    user guide, create-node-pool)."""
    if ClusterSection.of(context.spec).auto_mode is not None:
        return {"key": _AUTO_MODE_GPUS, "operator": "In", "values": ["nvidia"]}
    return {"key": GPU_PRESENT, "operator": "In", "values": ["true"]}


def _privileges(context: Context) -> dict[str, Any]:
    """On Bottlerocket, which EKS Auto Mode runs too, only privileged containers get GPUs by NVIDIA_VISIBLE_DEVICES, as
    the exporter asks for them (Bottlerocket 1.54, settings.nvidia-container-runtime,
    visible-devices-envvar-when-unprivileged: false by default)."""
    auto = ClusterSection.of(context.spec).auto_mode is not None
    if not auto and not context.version("ami").startswith("bottlerocket@"):
        return {}
    # The API server refuses a privileged container that may not escalate, which is the chart's default.
    return {"securityContext": {"privileged": True, "allowPrivilegeEscalation": True}}


ADD_ON = AddOn(
    component=DCGM_EXPORTER,
    wanted=wanted,
    at=key_route(),
    values=values,
    reach=("tolerations",),
    # Its chart has a ServiceMonitor, whose CRD the stack brings.
    after=(STACK,),
    daemons=(
        Daemon(
            DCGM_EXPORTER, _CPU, _MEMORY, OURS, on=on_gpus, kept=False, resources=("resources",)
        ),
    ),
)
