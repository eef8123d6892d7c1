"""Manifests, ours or a stranger's, read back into the typed plan.

Each module here reads some kinds: ``KINDS`` maps ``group/Kind`` to a function from a ``Reader`` to plan nodes. It
shares nothing with the renderer. What is absent or unreadable is left out: unknown is never guessed, and ``verify``
has told of what is malformed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from compiler.lift.reader import Reader, reader
from compiler.manifest import Manifest
from compiler.plan import Plan
from compiler.plan.base import PlanNode
from compiler.plan.cloud import CloudResource

__all__ = ["assembled", "carried", "kinds", "lift", "read"]

Lift = Callable[[Reader], Iterable[PlanNode]]
_PARTS = ("__init__", "reader", "pods")


@cache
def _modules() -> tuple[Any, ...]:
    names = sorted(
        each.stem
        for each in Path(__file__).parent.glob("*.py")
        if each.stem not in _PARTS
    )
    return tuple(import_module(f"{__name__}.{name}") for name in names)


@cache
def kinds(*, closed: bool = False) -> dict[str, tuple[Lift, ...]]:
    """Who reads which ``group/Kind``; some are read for two reasons. ``closed``: of our own output, where what has pods
    is known for what it is."""
    found: dict[str, tuple[Lift, ...]] = {}
    for module in _modules():
        for kind, read in (
            module.KINDS.items()
            if not (closed and hasattr(module, "OPEN_ONLY"))
            else ()
        ):
            found[kind] = (*found.get(kind, ()), read)
    return found


@cache
def _fields() -> dict[str, str]:
    """The plan's field for each node class, by the class' name."""
    found = {}
    for each in fields(Plan):
        text = str(each.type)
        if text.startswith("tuple["):
            found[text[6:].split(",")[0]] = each.name
    return found


def lift(manifests: Sequence[Manifest], *, closed: bool) -> Plan:
    """The plan that the manifests carry. ``closed``: nothing exists beside them."""
    return assembled(read(manifests, closed=closed), closed=closed)


def read(manifests: Sequence[Manifest], *, closed: bool) -> list[PlanNode]:
    """The nodes that the manifests carry."""
    table = kinds(closed=closed)
    nodes = [
        node
        for each in manifests
        for read in table.get(_kind(each), ())
        for node in read(reader(each))
    ]
    for module in _modules():
        nodes = module.join(nodes) if hasattr(module, "join") else nodes
    return nodes


def assembled(nodes: Iterable[PlanNode], *, closed: bool) -> Plan:
    """The plan of nodes that were read."""
    found: dict[str, Any] = {}
    names = _fields()
    for node in nodes:
        name = type(node).__name__
        if name in names:
            found.setdefault(names[name], []).append(node)
        elif isinstance(node, CloudResource):
            found.setdefault("cloud", []).append(node)
        elif name == "Cluster":
            found["cluster"] = node
        elif name == "QueueManager":
            found["queue_manager"] = node
    done: dict[str, Any] = {
        name: tuple(each) if isinstance(each, list) else each
        for name, each in found.items()
    }
    return Plan(**done, closed=closed)


def carried(lifted: Plan, plan: Plan) -> Plan:
    """A plan that was lifted from our own output, with what no output carries, from the plan that was lowered."""
    return replace(
        lifted,
        bootstrap=plan.bootstrap,
        external=plan.external,
        versions=plan.versions,
        release=plan.release,
        shares=plan.shares,
    )


def _kind(manifest: Manifest) -> str:
    body = manifest.body
    api_version = body.get("apiVersion")
    group = api_version.rpartition("/")[0] if isinstance(api_version, str) else ""
    return f"{group}/{body.get('kind')}"
