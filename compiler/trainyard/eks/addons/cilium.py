"""Cilium, chained behind the VPC CNI: it enforces network policies, and leaves addresses and routes to the VPC CNI.

Source: cilium v1.20.2, Documentation/installation/cni-chaining-aws-cni.rst and cni-chaining-limitations.rst,
install/kubernetes/cilium/values.yaml. Traffic by EFA passes the kernel of no node, and so neither CNI.
"""

from __future__ import annotations

from typing import Any

from trainyard.core.network.spec import NetworkSection
from trainyard.eks.addons.addon import EVERYWHERE, OURS, AddOn, Controller, Daemon, Setting
from trainyard.eks.addons.placing import REPLICAS
from trainyard.plan.context import SPEC, Context
from trainyard.plan.scheduling import Taint

_CPU, _MEMORY = 200, 512
_OPERATOR_CPU, _OPERATOR_MEMORY = 50, 128


def wanted(context: Context) -> bool:
    """Where the spec asks for it."""
    return NetworkSection.of(context.spec).network.cilium is not None


def values(setting: Setting) -> dict[str, Any]:
    """cilium 1.20.2 chart values. Envoy and Hubble are off: policies of layer 7 are limited in a chain (cilium issue
    12454), and Hubble's certificates change with each upgrade of the release."""
    return {
        "cni": {"chainingMode": "aws-cni", "exclusive": False},
        "enableIPv4Masquerade": False,
        "routingMode": "native",
        # Address blocks of NetworkPolicies hold for nodes too, as with the VPC CNI (security/policy/layer3.rst).
        "policyCIDRMatchMode": ["nodes"],
        "envoy": {"enabled": False},
        "l7Proxy": False,
        "hubble": {"enabled": False},
        "tolerations": EVERYWHERE,
        "resources": _requests(_CPU, _MEMORY),
        "operator": {
            "replicas": REPLICAS,
            "podDisruptionBudget": {"enabled": True},
            "resources": _requests(_OPERATOR_CPU, _OPERATOR_MEMORY),
        },
    }


def startup_taints(context: Context) -> tuple[Taint, ...]:
    """What the operator takes from a node whose agent is ready (cilium v1.20.2, installation/taints.rst: NoExecute;
    values.yaml, agentNotReadyTaintKey). System nodes have none: Flux installs Cilium from there."""
    cilium = NetworkSection.of(context.spec).network.cilium
    if cilium is None or not cilium.startup_taint:
        return ()
    return (Taint("node.cilium.io/agent-not-ready", "true", "NoExecute"),)


def _requests(cpu: int, memory: int) -> dict[str, Any]:
    return {
        "requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
        "limits": {"memory": f"{4 * memory}Mi"},
    }


ADD_ON = AddOn(
    component="cilium",
    wanted=wanted,
    values=values,
    at=SPEC / "network" / "cilium",
    reach=("tolerations",),
    startup_taints=startup_taints,
    daemons=(Daemon("cilium", _CPU, _MEMORY, OURS, kept=False, resources=("resources",)),),
    controllers=(
        Controller("cilium-operator", REPLICAS, _OPERATOR_CPU, _OPERATOR_MEMORY, OURS, apart=True),
    ),
)
