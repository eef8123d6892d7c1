"""Platforms: what a cluster runs on, each a visible tuple of the rooms that make it."""

from __future__ import annotations

from trainyard.eks import EKS
from trainyard.extensions.hyperpod import HYPER_POD
from trainyard.extensions.parallelcluster import PARALLEL_CLUSTER

__all__ = ["EKS", "HYPER_POD", "PARALLEL_CLUSTER", "PLATFORMS"]

PLATFORMS = {platform.name: platform for platform in (EKS, HYPER_POD, PARALLEL_CLUSTER)}
"""By the key in ``spec.platform``."""
