"""What launches the nodes of a pool. One file each, with one value ``LAUNCHER``; found by being here."""

from __future__ import annotations

from functools import cache

from trainyard.core.pools.spec import NodePool
from trainyard.eks.settings.launcher import PoolLauncher
from trainyard.language.models.cluster import ClusterSpec
from trainyard.plan.features import members

__all__ = ["chosen", "launchers"]


@cache
def launchers() -> tuple[PoolLauncher, ...]:
    """The launchers, in the order in which they are asked whether a pool is their own."""
    found: list[PoolLauncher] = members(__name__, __path__, "LAUNCHER")
    return tuple(sorted(found, key=lambda launcher: launcher.place))


def chosen(spec: ClusterSpec, pool: NodePool) -> PoolLauncher:
    """What launches the nodes of a pool of the spec; the last one launches those that no other does."""
    return next(launcher for launcher in launchers() if launcher.launches(spec, pool))
