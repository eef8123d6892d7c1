"""The interface of policies, described from its own classes: what a rule is given, and what it yields.

``trainyard explain --interface`` lists the classes, and ``--interface Work`` prints one.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cached_property

from trainyard.catalog import Catalog, InstanceType
from trainyard.core.pods.plan import Container, EnvVar, Mount, Pod, Volume
from trainyard.core.queues.plan import Quota
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.model.choice import Choice
from trainyard.judge.model.cohorts import Cohorts
from trainyard.judge.model.storage import Storage
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.plan import Plan
from trainyard.plan.base import PlanItem
from trainyard.plan.features import parts
from trainyard.plan.scheduling import Requirement, Taint, Toleration


def _nodes() -> list[type]:
    """The classes of the plan's nodes, by subject and then in the order of its module."""
    return [
        kind
        for module in parts("plan")
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, PlanItem)
        and kind.__module__ == module.__name__
    ]


_PARTS = (
    Pod,
    Container,
    EnvVar,
    Mount,
    Volume,
    NodeGroup,
    Requirement,
    Taint,
    Toleration,
    Quota,
    Choice,
    Cohorts,
    Storage,
    Catalog,
    InstanceType,
    Manifest,
    ObjectRef,
    Quantity,
    Route,
)
CLASSES = tuple(dict.fromkeys((Finding, Work, World, Plan, PlanItem, *_nodes(), *_PARTS)))
"""Everything that a rule meets, the nearest first."""


def describe(name: str) -> str | None:
    """The page of a class, or of ``rule``; ``None`` for an unknown name."""
    if name == "rule":
        return "\n".join(_rule())
    for kind in CLASSES:
        if kind.__name__ == name:
            return "\n".join(_page(kind))
    return None


def summaries() -> list[tuple[str, str]]:
    """What can be described, with its first sentence."""
    described = [("rule", rule), *((kind.__name__, kind) for kind in CLASSES)]
    return [(name, _summary(each).partition(". ")[0]) for name, each in described]


def _rule() -> Iterator[str]:
    yield "rule"
    yield ""
    yield "@rule(code, *, severity=Severity.ERROR, params={}, kinds=(), pods=False, roles=False,"
    yield '      gangs=False, containers=False, kubernetes="", aliases=(), enabled=True, alone=False)'
    yield ""
    yield _docstring(rule)
    yield ""


def _page(kind: type) -> Iterator[str]:
    yield kind.__name__
    yield ""
    yield _docstring(kind)
    yield ""
    for line in (*_fields(kind), *_members(kind)):
        yield f"  {line}"
    yield ""


def _docstring(documented: object) -> str:
    text = getattr(documented, "__doc__", None) or ""
    return inspect.cleandoc(text).replace("``", "`")


def _fields(kind: type) -> Iterator[str]:
    if is_dataclass(kind):
        for field in fields(kind):
            is_private = field.name.startswith("_")
            is_job = kind is Work and field.name == "job"
            if not is_private and not is_job:
                yield _field(field)


def _field(field: Field[object]) -> str:
    text = f"{field.name}: {field.type}"
    if field.init and field.default is not MISSING:
        text += f" = {field.default!r}"
    return text


def _members(kind: type) -> Iterator[str]:
    """Public properties and methods with the first sentence of their docstrings."""
    for name, member in _own(kind):
        if isinstance(member, property | cached_property):
            if isinstance(member, property):
                function = member.fget
            else:
                function = member.func
            returns = inspect.signature(function).return_annotation  # type: ignore[arg-type]
            yield _member(f"{name}: {returns}", function)
        elif inspect.isfunction(member):
            signature = str(inspect.signature(member))
            signature = signature.replace("(self, ", "(")
            signature = signature.replace("(self)", "()")
            signature = signature.replace("'", "")
            yield _member(f"{name}{signature}", member)


def _own(kind: type) -> Iterator[tuple[str, object]]:
    seen: dict[str, object] = {}
    for base in kind.__mro__[:-1]:
        if base.__module__.startswith("trainyard."):
            for name, member in vars(base).items():
                seen.setdefault(name, member)
    for name, member in seen.items():
        if not name.startswith("_"):
            yield name, member


def _member(head: str, documented: object) -> str:
    summary = _summary(documented)
    if summary:
        return f"{head}    {summary}"
    return head


def _summary(documented: object) -> str:
    """The first paragraph of a docstring, on one line."""
    first = _docstring(documented).partition("\n\n")[0]
    return " ".join(first.split())
