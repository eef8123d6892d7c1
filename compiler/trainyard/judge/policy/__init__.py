"""Policies: rules over the plan, their levels and exceptions, and users' own rules."""

from trainyard.judge.policy.judge import Policies, load_policies

__all__ = ["Policies", "load_policies"]
