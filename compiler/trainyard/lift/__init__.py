"""Reads manifests, ours or third-party, back into the typed plan.

The module ``lift`` of a subject reads some kinds: its ``KINDS`` maps ``group/Kind`` to a function from a ``Reader`` to
plan items; ``OTHERS`` is one for all kinds of which there is none.
It shares nothing with the renderer. What is absent or unreadable is left out: unknown is never guessed, and
``verify`` reports what is malformed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from trainyard.lift.reader import Reader, reader
from trainyard.output.manifest import Manifest, group_of
from trainyard.plan import Plan
from trainyard.plan.base import PlanItem
from trainyard.plan.features import parts

__all__ = ["assembled", "carried", "kinds", "lift", "read"]

Lift = Callable[[Reader], Iterable[PlanItem]]


@cache
def kinds(*, closed: bool = False) -> dict[str, tuple[Lift, ...]]:
    """Who reads which ``group/Kind``; some are read for two reasons. ``closed``: of our own output, where what has pods
    is known for what it is."""
    readers: dict[str, tuple[Lift, ...]] = {}
    for module in parts("lift"):
        if closed and hasattr(module, "OPEN_ONLY"):
            continue
        of_module = dict(module.KINDS)
        if closed and hasattr(module, "OWN"):
            of_module |= module.OWN
        for kind, read in of_module.items():
            earlier = readers.get(kind, ())
            readers[kind] = (*earlier, read)
    return readers


@cache
def others() -> tuple[Lift, ...]:
    """What is read of a kind that nothing knows: ``OTHERS`` of a module."""
    return tuple(module.OTHERS for module in parts("lift") if hasattr(module, "OTHERS"))


def lift(manifests: Sequence[Manifest], *, closed: bool) -> Plan:
    """The plan that the manifests carry. ``closed``: no other objects exist."""
    return assembled(read(manifests, closed=closed), closed=closed)


def read(manifests: Sequence[Manifest], *, closed: bool) -> list[PlanItem]:
    """The nodes that the manifests carry."""
    nodes: list[PlanItem] = []
    for manifest in manifests:
        # What a spec includes may be anything that a third party writes.
        table = kinds(closed=closed and not manifest.key)
        for read_kind in table.get(_kind(manifest), others()):
            nodes.extend(read_kind(reader(manifest)))
    for module in parts("lift"):
        if hasattr(module, "join"):
            nodes = module.join(nodes)
    return nodes


def assembled(nodes: Iterable[PlanItem], *, closed: bool) -> Plan:
    """The plan of nodes that were read."""
    unique = tuple(_each_once(list(nodes)))
    return Plan(items=unique, closed=closed)


def _each_once(nodes: Sequence[PlanItem]) -> Iterator[PlanItem]:
    """The nodes, and of a kind of which a cluster has one the last: it is what would be applied last."""
    last = {type(node): node for node in nodes if node.single}
    for node in nodes:
        is_kept = not node.single or last[type(node)] is node
        if is_kept:
            yield node


def carried(lifted: Plan, plan: Plan) -> Plan:
    """A plan that was lifted from our own output, with what no output carries, from the plan that was lowered."""
    return replace(
        lifted, items=(*lifted.items, *plan.apart()), external=plan.external, release=plan.release
    )


def _kind(manifest: Manifest) -> str:
    body = manifest.body
    api_version = body.get("apiVersion")
    group = ""
    if isinstance(api_version, str):
        group = group_of(api_version)
    return f"{group}/{body.get('kind')}"
