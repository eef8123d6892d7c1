"""Platforms: what a cluster runs on, each a visible tuple of the features that make it."""

from __future__ import annotations

from trainyard.eks import EKS
from trainyard.plan.features import Platform, extensions

__all__ = ["EKS", "PLATFORMS"]


def _found() -> list[Platform]:
    """EKS, and the ``PLATFORM`` of each extension that is one."""
    found = [getattr(package, "PLATFORM", None) for package in extensions().values()]
    return [EKS, *(platform for platform in found if platform is not None)]


PLATFORMS = {platform.name: platform for platform in _found()}
"""By the key in ``spec.platform``."""
