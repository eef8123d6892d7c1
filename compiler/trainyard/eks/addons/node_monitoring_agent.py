"""The EKS node monitoring agent, which reports faults of GPU, network, storage and kernel."""

from __future__ import annotations

from typing import Any

from trainyard.catalog import InstanceType
from trainyard.core.health.spec import HealthSection
from trainyard.eks.addons.addon import EVERYWHERE, OURS, AddOn, Daemon, Setting
from trainyard.plan.context import SPEC, Context

_AGENT_REQUESTS = {"cpu": "100m", "memory": "256Mi"}
_DCGM_REQUESTS = {"cpu": "100m", "memory": "512Mi"}


def wanted(context: Context) -> bool:
    """Unless the spec switches it off."""
    return HealthSection.of(context.spec).health.node_monitoring_agent


def values(setting: Setting) -> dict[str, Any]:
    """eks-node-monitoring-agent 1.7.0 chart values.

    Without tolerations there is no DCGM server on tainted nodes, the agent reports DCGMError, and Karpenter
    deletes healthy nodes after ten minutes (aws/containers-roadmap #2567).
    """
    return {
        "nodeAgent": {
            "resources": {
                "requests": _AGENT_REQUESTS,
                "limits": {"memory": _AGENT_REQUESTS["memory"]},
            },
            # IPoIB interfaces of P6 look down to 1.7.0 (eks-node-monitoring-agent 51af549); other types have none.
            "monitors": {"networking": {"excludedInterfaceNameRegexps": ["^ibp.*"]}},
        },
        "dcgmAgent": {
            "tolerations": EVERYWHERE,
            # No limit, as in the chart: with eight GPUs 512 MiB are at times too few (pytorch/ci-infra#1011), and a
            # host engine that is killed for it is a DCGMError as well.
            "resources": {"requests": _DCGM_REQUESTS},
        },
    }


def _has_dcgm(instance: InstanceType) -> bool:
    """eks-node-monitoring-agent 1.7.0 chart values: no DCGM on arm64."""
    return bool(instance.gpus) and instance.arch == "amd64"


ADD_ON = AddOn(
    component="eks-node-monitoring-agent",
    in_auto_mode=True,
    wanted=wanted,
    at=SPEC / "health",
    values=values,
    reach=("dcgmAgent", "tolerations"),
    daemons=(
        Daemon("eks-node-monitoring-agent", 100, 256, OURS, resources=("nodeAgent", "resources")),
        Daemon("dcgm-server", 100, 512, OURS, on=_has_dcgm, resources=("dcgmAgent", "resources")),
    ),
)
