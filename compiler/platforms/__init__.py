"""Platforms: what a cluster runs on, each a visible tuple of the subjects that make it."""

from __future__ import annotations

from compiler.platforms.eks import EKS
from compiler.platforms.platform import Platform

__all__ = ["EKS", "PLATFORMS", "Platform"]

PLATFORMS = {platform.name: platform for platform in (EKS,)}
"""By the key in ``spec.platform``."""
