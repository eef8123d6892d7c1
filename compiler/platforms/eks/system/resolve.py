"""The system: whether its nodes have room for the controllers."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.context import Context
from compiler.plan import PlanNode
from compiler.platforms.eks.system.bounds import check_system


def resolve(context: Context) -> Iterator[PlanNode]:
    """No object by itself: the nodes are part of the cluster."""
    check_system(context)
    yield from ()
