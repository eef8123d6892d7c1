"""The small cluster of each platform, which the guards of all platforms start from."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from trainyard.plan.features import Platform
from trainyard.run.platforms import PLATFORMS

__all__ = ["own_parts", "small", "without_small"]


def small(platform: Platform) -> dict[str, Any]:
    """A cluster that a platform takes, with one pool and one job: ``spec()`` of ``clusters.py`` in its folder here."""
    found: dict[str, Any] = import_module(_module(platform)).spec()
    return found


def own_parts(platform: Platform) -> dict[str, dict[str, Any]]:
    """Sections of its own that are laid over it, by what they show: ``PARTS`` of the same module."""
    return getattr(import_module(_module(platform)), "PARTS", {})


def without_small() -> list[str]:
    """The platforms that have none."""
    return [name for name, platform in PLATFORMS.items() if find_spec(_module(platform)) is None]


def _module(platform: Platform) -> str:
    return f"{__package__}.{platform.name.lower()}.clusters"
