"""Add-ons: components of a cluster that are not jobs. One file each, with one value ``ADD_ON``.

Those of EKS are here, and those of an extension in its folder ``addons``. A file says which component of the release it
is, when it is wanted, with which values and rights it is installed, what it takes of a node, and after what. A new
add-on is one new file; it is found by being here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from trainyard.eks.addons.addon import OWN, AddOn
from trainyard.plan.context import SPEC, Context
from trainyard.plan.features import members, members_of_extensions
from trainyard.plan.scheduling import Taint

__all__ = [
    "AddOn",
    "addons",
    "check_release",
    "installed",
    "is_needed",
    "startup_taints",
    "used",
    "wanted",
]

# Needed by every cluster, and no add-ons: the control plane, the tool that makes it, and the nodes' image.
_CLUSTER = ("kubernetes", "eksctl", "ami")


@cache
def addons() -> Mapping[str, AddOn]:
    """The add-ons by component, each after those that it waits for, and else by the names of their files."""
    own = members(__name__, __path__, "ADD_ON")
    return _in_order([*own, *members_of_extensions("addons", "ADD_ON")])


def _in_order(addons: list[AddOn]) -> dict[str, AddOn]:
    """Raises ValueError for an add-on that waits for itself, or for one that is not there."""
    waiting = {addon.component: addon for addon in addons}
    ordered: dict[str, AddOn] = {}
    while waiting:
        addon = _first_ready(waiting, ordered)
        ordered[addon.component] = waiting.pop(addon.component)
    return ordered


def _first_ready(waiting: Mapping[str, AddOn], ordered: Mapping[str, AddOn]) -> AddOn:
    for addon in waiting.values():
        if ordered.keys() >= set(addon.after):
            return addon
    raise ValueError(f"add-ons wait for each other: {', '.join(waiting)}")


def installed(context: Context) -> tuple[AddOn, ...]:
    """The add-ons that are installed in a cluster, in order."""
    return context.once(_installed)


def is_needed(context: Context, component: str) -> bool:
    """Whether another add-on that the cluster needs does not work without it."""
    return any(component in addon.needs and addon.lacks(context) for addon in addons().values())


def startup_taints(context: Context) -> tuple[Taint, ...]:
    """What keeps pods away from a new node until the agents of add-ons are ready there."""
    taints: list[Taint] = []
    for addon in installed(context):
        taints += addon.startup_taints(context)
    return tuple(taints)


def _installed(context: Context) -> tuple[AddOn, ...]:
    return tuple(addon for addon in addons().values() if addon.runs(context))


def wanted(context: Context, by: str) -> Iterator[AddOn]:
    """The add-ons of a cluster that are installed in one way, in order."""
    for addon in installed(context):
        if addon.by == by:
            yield addon


def check_release(context: Context) -> None:
    """Add-ons that the cluster needs, and its release does not have: they are newer than it."""
    for addon in addons().values():
        if addon.is_released(context) or not addon.lacks(context):
            continue
        name = context.release.name
        context.fault(
            "RES270",
            f"release {name} has no `{addon.component}`, which this cluster needs",
            SPEC / "release",
            f"take a newer release: `{context.catalog.newest_release.name}` has it",
        )


def used(context: Context) -> frozenset[str]:
    """The components of the release that a cluster uses."""
    components = [addon.component for addon in installed(context) if addon.by != OWN]
    return frozenset(_CLUSTER).union(components)
