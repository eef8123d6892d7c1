"""The plan: the typed whole of what will exist. Targets lower it, ``lift`` reads it back, policies judge it."""

from compiler.plan.base import PlanNode
from compiler.plan.plan import Derived, Plan
from compiler.plan.units import Duration, Quantity

__all__ = ["Derived", "Duration", "Plan", "PlanNode", "Quantity"]
