"""SageMaker HyperPod: nodes that SageMaker launches, tests and replaces, in a cluster of EKS.

It stands on EKS (docs/adr/0026): the cluster, its queues, volumes, jobs and delivery are EKS' rooms, and what launches
nodes is HyperPod.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.platforms.hyperpod.differences import INSTEAD, INSTEAD_GOVERNED
from compiler.rooms import Platform

__all__ = ["GOVERNED", "HYPER_POD"]

_KUEUE = "platforms.eks.kueue"
_OWN = Platform(
    "hyperPod",
    (
        "core.network",
        "platforms.eks.network",
        "core.pools",
        "platforms.eks.nodes",
        "core.teams",
        "platforms.eks.teams",
        "core.storage",
        "platforms.eks.volumes",
        "core.images",
        "core.queues",
        _KUEUE,
        "platforms.eks.system",
        "platforms.hyperpod.settings",
        "platforms.eks.cluster",
        "core.jobs",
        "platforms.eks.runs",
        "platforms.eks.jobs",
        "core.secrets",
        "core.notifications",
        "platforms.eks.notifications",
        "platforms.eks.secrets",
        "platforms.eks.logs",
        "platforms.eks.monitoring",
        "platforms.eks.checkpoints",
        "platforms.eks.opencost",
        "platforms.eks.managed_monitoring",
        "platforms.eks.dashboards",
        "core.delivery",
        "platforms.eks.flux",
        "platforms.eks.delivery",
        "platforms.eks.overrides",
        "platforms.eks.bootstrap",
        "platforms.hyperpod.cluster",
        "platforms.hyperpod.bootstrap",
    ),
    instead=INSTEAD,
    stands_on="eks",
    # HyperPod launches and repairs nodes; its chart brings the training operator whose jobs it resumes.
    without=frozenset(
        {"karpenter", "karpenter-crd", "eks-node-monitoring-agent", "training-operator"}
    ),
)

_GOVERNANCE = "platforms.hyperpod.governance"
GOVERNED = replace(
    _OWN,
    rooms=tuple(_GOVERNANCE if room == _KUEUE else room for room in _OWN.rooms),
    instead={**INSTEAD, **INSTEAD_GOVERNED},
    answers="governed",
    # The add-on has Kueue, and takes no other one.
    without=_OWN.without | {"kueue"},
    # Kueue 0.19.2 (SageMaker developer guide, sagemaker-hyperpod-eks-operate-console-ui-governance-upgrade).
    brings={"amazon-sagemaker-hyperpod-taskgovernance": "v1.6.0-eksbuild.1"},
)
"""HyperPod whose queues SageMaker makes, by ``taskGovernance``."""
HYPER_POD = replace(_OWN, by_key={"taskGovernance": GOVERNED})
