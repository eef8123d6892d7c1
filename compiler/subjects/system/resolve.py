"""The system: the nodes that run the controllers, and how the controllers stay available."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.plan import PlanNode
from compiler.resolve.context import Context
from compiler.subjects.system.availability import disruption_budgets
from compiler.subjects.system.bounds import check_system


def resolve(context: Context) -> Iterator[PlanNode]:
    """Disruption budgets of the controllers; the nodes must have room for them."""
    check_system(context)
    yield from disruption_budgets(context)
