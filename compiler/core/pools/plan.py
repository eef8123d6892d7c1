"""What jobs can get of the nodes of a pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from compiler.dataclass import dataclass
from compiler.plan.base import PlanNode
from compiler.plan.units import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShare(PlanNode):
    """What jobs can get of one node of a pool, by resource: all of it, less what DaemonSets take."""

    carried: ClassVar[bool] = False

    name: str
    resources: Mapping[str, Quantity]
