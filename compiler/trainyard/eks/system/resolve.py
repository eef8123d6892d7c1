"""The system: whether its nodes have room for the controllers."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.system.bounds import check_system
from trainyard.plan import PlanNode
from trainyard.plan.context import Context


def resolve(context: Context) -> Iterator[PlanNode]:
    """No object by itself: the nodes are part of the cluster."""
    check_system(context)
    yield from ()
