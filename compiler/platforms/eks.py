"""Amazon EKS with Karpenter: nodes come when jobs ask for them."""

from __future__ import annotations

from compiler.platforms.platform import Platform

EKS = Platform(
    "eks",
    (
        "network",
        "pools",
        "namespaces",
        "storage",
        "images",
        "queues",
        "system",
        "cluster",
        "jobs",
        "own_pods",
        "secrets",
        "health",
        "delivery",
        "overrides",
        "bootstrap",
    ),
    node_share="compiler.subjects.pools.share:share_of",
)
