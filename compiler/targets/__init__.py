"""Pass 4: plan to manifests. Total: a valid plan always lowers.

Each module of this package is one target: a function ``lower(plan)`` that yields manifests, built by pure functions
from plan nodes to bodies. A new target is one new file; it is found by being here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from compiler.manifest import Body, Manifest
from compiler.plan import Plan

__all__ = ["files", "lower", "targets"]

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


def lower(plan: Plan) -> list[Manifest]:
    """Every object of a plan, by target and then in the order of the plan."""
    return [
        manifest
        for module in targets().values()
        if hasattr(module, "lower")
        for manifest in module.lower(plan)
    ]


def files(plan: Plan) -> dict[str, str | Body]:
    """What is no object: path and text of the files for people, and bodies of those for other tools than kubectl."""
    found: dict[str, str | Body] = {}
    for module in targets().values():
        if hasattr(module, "files"):
            found.update(module.files(plan))
    return found
