"""Pass 4: plan to artifacts. Total: a valid plan always lowers.

A target is the module ``target`` of a subject: a function ``lower(plan)`` that yields artifacts of any format, built by
pure functions from plan nodes to bodies and texts.
"""

from __future__ import annotations

from compiler.output import Artifact
from compiler.plan import Plan
from compiler.subjects import parts

__all__ = ["lower"]


def lower(plan: Plan) -> list[Artifact]:
    """Everything that is written for a plan, by target and then in the order of the plan."""
    return [artifact for module in parts("target") for artifact in module.lower(plan)]
