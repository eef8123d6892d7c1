"""Karpenter, which launches and removes the nodes of the pools."""

from __future__ import annotations

from typing import Any

from trainyard.core.health.spec import HealthSection
from trainyard.core.network.spec import NetworkSection
from trainyard.eks.addons.addon import OURS, AddOn, Controller, Role, Setting
from trainyard.eks.addons.placing import REPLICAS
from trainyard.plan.context import SPEC, Context


def interruption_queue(cluster: str) -> str:
    """The SQS queue of spot interruptions, rebalances and health events."""
    return f"Karpenter-{cluster}"


def values(setting: Setting) -> dict[str, Any]:
    """karpenter 1.14.1 chart values, with the gates of all that a pool may be."""
    context: Context = setting.context
    isolated = {}
    if NetworkSection.of(context.spec).network.is_isolated:
        # It then calls neither IAM nor the price list, which have no endpoint in a VPC.
        isolated["isolatedVPC"] = True
    return {
        "settings": {
            "clusterName": context.name,
            **isolated,
            "interruptionQueue": interruption_queue(context.name),
            "featureGates": {
                "nodeRepair": HealthSection.of(context.spec).health.node_repair,
                "reservedCapacity": True,
                "staticCapacity": True,
                "nodeOverlay": True,
            },
        },
        "serviceAccount": {"create": True, "name": "karpenter"},
        "controller": {
            "resources": {
                "requests": {"cpu": "1", "memory": "1Gi"},
                "limits": {"cpu": "1", "memory": "1Gi"},
            }
        },
    }


ADD_ON = AddOn(
    component="karpenter",
    in_auto_mode=True,
    values=values,
    keys={("settings", "featureGates", "nodeRepair"): SPEC / "health" / "nodeRepair"},
    crds_of="karpenter-crd",
    # karpenter v1.14.1 charts/karpenter/values.yaml: podAntiAffinity keeps its pods on two nodes.
    controllers=(
        Controller(
            "karpenter",
            REPLICAS,
            1000,
            1024,
            OURS,
            apart=True,
            resources=("controller", "resources"),
            replicas=("replicas",),
        ),
    ),
    role=Role("kube-system", "karpenter", own="KarpenterController-{}"),
)
