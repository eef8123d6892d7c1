"""What launches the nodes of a pool. One file each, with one value ``LAUNCHER``; found by being here."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from compiler.context import Context
from compiler.core.pools.spec import NodePool
from compiler.platforms.eks.settings.launcher import PoolLauncher

__all__ = ["chosen", "launchers"]


@cache
def launchers() -> tuple[PoolLauncher, ...]:
    """The launchers, in the order in which they are asked whether a pool is their own."""
    files = {file.stem for folder in __path__ for file in Path(folder).glob("*.py")}
    files.discard("__init__")
    found = [import_module(f"{__name__}.{name}").LAUNCHER for name in sorted(files)]
    return tuple(sorted(found, key=lambda launcher: launcher.place))


def chosen(context: Context, pool: NodePool) -> PoolLauncher:
    """What launches the nodes of a pool of the spec; the last one launches those that no other does."""
    return next(launcher for launcher in launchers() if launcher.launches(context, pool))
