"""Pass 4: plan to manifests. Total: a valid plan always lowers.

A target is the module ``target`` of a subject: a function ``lower(plan)`` that yields manifests, built by pure
functions from plan nodes to bodies.
"""

from __future__ import annotations

from compiler.manifest import Body, Manifest
from compiler.plan import Plan
from compiler.subjects import parts

__all__ = ["files", "lower"]


def lower(plan: Plan) -> list[Manifest]:
    """Every object of a plan, by target and then in the order of the plan."""
    return [
        manifest
        for module in parts("target")
        if hasattr(module, "lower")
        for manifest in module.lower(plan)
    ]


def files(plan: Plan) -> dict[str, str | Body]:
    """What is no object: path and text of the files for people, and bodies of those for other tools than kubectl."""
    found: dict[str, str | Body] = {}
    for module in parts("target"):
        if hasattr(module, "files"):
            found.update(module.files(plan))
    return found
