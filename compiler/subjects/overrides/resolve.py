"""Overrides that would have no effect."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.plan import PlanNode
from compiler.resolve.context import SPEC, Context
from compiler.subjects import addons
from compiler.subjects.overrides.spec import OverridesSection


def resolve(context: Context) -> Iterator[PlanNode]:
    """Nothing of its own: a component's version and values reach the nodes of who installs it."""
    _check_components(context)
    return iter(())


def _check_components(context: Context) -> None:
    used = addons.used(context)
    known = context.release.components
    for name, component in OverridesSection.of(context.spec).components.items():
        at = SPEC / "components" / name
        if name not in known:
            continue  # reported with the release
        if component.values and known[name].chart is None:
            context.fault(
                "RES062",
                f"`{name}` is installed by no chart, so it has no values",
                at / "values",
                "remove them; `patches:` changes objects that Trainyard writes",
            )
        elif name not in used:
            context.doubt(
                "RES064",
                f"this cluster has no `{name}`, so what is written for it has no effect",
                at,
                "remove it, unless the spec is shared with a cluster that has it",
            )
