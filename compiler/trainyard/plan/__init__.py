"""What will exist, typed: targets lower it, ``lift`` reads it back, policies judge it."""

from trainyard.language.units import Duration, Quantity
from trainyard.plan.base import PlanItem
from trainyard.plan.plan import Derived, Plan

__all__ = ["Derived", "Duration", "Plan", "PlanItem", "Quantity"]
