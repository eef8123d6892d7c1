"""Amazon EKS with Karpenter: nodes come when jobs ask for them."""

from __future__ import annotations

from compiler.rooms import Platform

__all__ = ["EKS"]

EKS = Platform(
    "eks",
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
        "platforms.eks.kueue",
        "platforms.eks.system",
        "platforms.eks.settings",
        "platforms.eks.cluster",
        "core.jobs",
        "platforms.eks.runs",
        "platforms.eks.jobs",
        "core.secrets",
        "core.notifications",
        # before what makes the Secrets that receivers read
        "platforms.eks.notifications",
        "platforms.eks.secrets",
        "core.health",
        "platforms.eks.health",
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
    ),
)
