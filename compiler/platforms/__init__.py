"""Platforms: what a cluster runs on, each a visible tuple of the rooms that make it."""

from __future__ import annotations

from compiler.platforms.eks import EKS

__all__ = ["EKS", "PLATFORMS"]

PLATFORMS = {platform.name: platform for platform in (EKS,)}
"""By the key in ``spec.platform``."""
