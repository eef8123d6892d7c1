"""Platforms: what a cluster runs on, each a visible tuple of the rooms that make it."""

from __future__ import annotations

from compiler.platforms.eks import EKS
from compiler.platforms.hyperpod import HYPER_POD
from compiler.platforms.parallelcluster import PARALLEL_CLUSTER

__all__ = ["EKS", "HYPER_POD", "PARALLEL_CLUSTER", "PLATFORMS"]

PLATFORMS = {platform.name: platform for platform in (EKS, HYPER_POD, PARALLEL_CLUSTER)}
"""By the key in ``spec.platform``."""
