"""Amazon EKS with Karpenter: nodes come when jobs ask for them."""

from __future__ import annotations

from trainyard.plan.features import OF_EXTENSIONS, Platform

__all__ = ["EKS"]

EKS = Platform(
    "eks",
    (
        "core.network",
        "eks.network",
        "core.pools",
        "eks.nodes",
        "core.teams",
        "eks.teams",
        "core.storage",
        "eks.volumes",
        "core.queues",
        "eks.kueue",
        "eks.system",
        "eks.settings",
        "eks.cluster",
        "core.jobs",
        "eks.runs",
        "eks.jobs",
        "core.secrets",
        # before what makes the Secrets that they read
        OF_EXTENSIONS,
        "eks.secrets",
        "core.health",
        "eks.health",
        "core.delivery",
        "eks.flux",
        "eks.delivery",
        "eks.overrides",
        "eks.bootstrap",
    ),
)
