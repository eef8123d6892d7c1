"""The Xids of NVIDIA GPUs by what they ask for: nothing of the node, a reset of the GPU, or more than that."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.catalog import Catalog
from trainyard.extensions.forecast.failures.outcome import Failure

GPU = "nvidia.com/gpu"
_RESET = "RESET_GPU"


def classes(catalog: Catalog) -> Mapping[Failure, tuple[int, ...]]:
    """The Xids of each class: those that a program causes, and the fatal ones by NVIDIA's advice."""
    xids = catalog.xids
    fatal = xids.fatal()
    reset = tuple(code for code in fatal if xids.action(code) == _RESET)
    return {
        Failure.PROGRAM: xids.application,
        Failure.RESET: reset,
        Failure.REPLACE: tuple(code for code in fatal if code not in reset),
    }


def named(codes: tuple[int, ...]) -> str:
    """Some Xids in words."""
    return ", ".join(map(str, codes))


def source(catalog: Catalog, failure: Failure) -> str:
    """Who published a class."""
    lists = catalog.xids.lists
    found = [lists["node-monitoring-agent"], lists["nvidia"]]
    if failure is Failure.PROGRAM:
        found = [lists["application"]]
    return "; ".join(f"{each.source}, {each.version}" for each in found)
