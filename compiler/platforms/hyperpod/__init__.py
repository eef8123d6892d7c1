"""SageMaker HyperPod: nodes that SageMaker launches, tests and replaces, in a cluster of EKS.

It stands on EKS (docs/adr/0026): the cluster, its queues, volumes, jobs and delivery are EKS' rooms, and what launches
nodes is HyperPod.
"""

from __future__ import annotations

from compiler.platforms.hyperpod.differences import INSTEAD
from compiler.rooms import Platform

__all__ = ["HYPER_POD"]

HYPER_POD = Platform(
    "hyperPod",
    (
        "core.network",
        "platforms.eks.network",
        "core.pools",
        "platforms.eks.nodes",
        "platforms.hyperpod.groups",
        "core.teams",
        "platforms.eks.teams",
        "core.storage",
        "platforms.eks.volumes",
        "core.images",
        "core.queues",
        "platforms.eks.kueue",
        "platforms.eks.system",
        "platforms.hyperpod.settings",
        "platforms.eks.cluster",
        "core.jobs",
        "platforms.eks.runs",
        "platforms.eks.jobs",
        "core.secrets",
        "platforms.eks.secrets",
        "core.delivery",
        "platforms.eks.flux",
        "platforms.eks.delivery",
        "platforms.eks.overrides",
        "platforms.eks.bootstrap",
        "platforms.hyperpod.cluster",
        "platforms.hyperpod.bootstrap",
    ),
    instead=INSTEAD,
    formats={"hyperpod": "ClusterRequest"},
    stands_on="eks",
    # HyperPod launches and repairs nodes; its chart brings the training operator whose jobs it resumes.
    without=frozenset(
        {"karpenter", "karpenter-crd", "eks-node-monitoring-agent", "training-operator"}
    ),
)
