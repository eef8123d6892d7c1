"""Pass 4: plan to artifacts. Total: a valid plan always lowers.

Each module of this package is one target: a function ``lower(plan)`` that yields artifacts of any format, built by pure
functions from plan nodes to bodies and texts. A new target is one new file; it is found by being here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from compiler.output import Artifact
from compiler.plan import Plan

__all__ = ["lower", "targets"]

_PARTS = ("__init__", "body", "chart")


@cache
def targets() -> dict[str, Any]:
    """The target modules by name."""
    names = sorted(
        each.stem
        for each in Path(__file__).parent.glob("*.py")
        if each.stem not in _PARTS
    )
    return {name: import_module(f"{__name__}.{name}") for name in names}


def lower(plan: Plan) -> list[Artifact]:
    """Everything that is written for a plan, by target and then in the order of the plan."""
    return [
        artifact for module in targets().values() for artifact in module.lower(plan)
    ]
