"""What a simulation starts from: flavors, topologies, queues, nodes and jobs, as Kueue understands them.

Amounts are whole numbers in Kueue's units: thousandths of a CPU for ``cpu``, and the unit itself for all else (bytes,
devices), rounded up. Source: Kueue 0.19.2, pkg/resources/requests.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from trainyard.language.dataclass import dataclass

Amounts = Mapping[str, int]
"""An amount for each resource."""


class Cell(NamedTuple):
    """What a quota is about: one resource of one flavor."""

    flavor: str
    resource: str


def in_order(resources: Iterable[str]) -> Sequence[str]:
    """Resources in the order in which Kueue goes through them, which decides what it says of a job: by the FNV-1a hash
    of their names (pkg/resources/slice_requests.go)."""
    return _by_hash(tuple(resources))


@cache
def _by_hash(resources: tuple[str, ...]) -> Sequence[str]:
    return sorted(resources, key=lambda name: (_fnv1a(name), name))


@cache
def _fnv1a(text: str) -> int:
    found = 0xCBF29CE484222325
    for byte in text.encode():
        found = (found ^ byte) * 0x100000001B3 % (1 << 64)
    return found


class Limits(NamedTuple):
    """A quota: what is one's own, the most that is borrowed, the most that is lent; ``None`` is without limit."""

    nominal: int
    borrowing: int | None = None
    lending: int | None = None


@dataclass(frozen=True, slots=True)
class Flavor:
    """A ResourceFlavor: the nodes that it stands for by their labels, taints, and what its pods tolerate besides."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, Any], ...] = ()
    tolerations: tuple[Mapping[str, Any], ...] = ()
    topology: str | None = None


@dataclass(frozen=True, slots=True)
class Cohort:
    """A Cohort: its parent, and quotas of its own."""

    name: str
    parent: str | None = None
    quotas: Mapping[Cell, Limits] | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Group:
    """Resources that a job gets from one flavor together, and the flavors in the order in which they are tried."""

    resources: frozenset[str]
    flavors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preemption:
    """Whom the jobs of a queue may preempt: ``Never``, ``LowerPriority``, ``LowerOrNewerEqualPriority`` or ``Any``."""

    within: str = "Never"
    reclaim: str = "Never"
    while_borrowing: str = "Never"
    threshold: int | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """A ClusterQueue.

    ``next_if_borrowing`` and ``next_if_preempting`` are ``flavorFungibility``: whether the next flavor is tried where a
    job would fit by borrowing, or by preempting.
    """

    name: str
    cohort: str | None
    strict: bool
    groups: tuple[Group, ...]
    quotas: Mapping[Cell, Limits]
    selector: Mapping[str, Any] | None
    preemption: Preemption
    next_if_borrowing: bool = False
    next_if_preempting: bool = True
    prefers_no_borrowing: bool = False
    weight: float = 1.0
    stopped: str = "None"

    def group_of(self, resource: str) -> Group | None:
        """The group that covers a resource."""
        return next((group for group in self.groups if resource in group.resources), None)


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A LocalQueue: the name by which a namespace knows a ClusterQueue."""

    namespace: str
    name: str
    queue: str
    stopped: str = "None"


@dataclass(frozen=True, slots=True)
class Node:
    """A node that is ready: what selects it, what keeps pods off, and what it has for pods."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, Any], ...]
    allocatable: Amounts


class Placement(NamedTuple):
    """Where pods are wanted: ``required``, ``preferred`` or ``unconstrained``, and the label of a level."""

    mode: str
    level: str | None = None


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods of one shape: how many, how few will do, and what each of them asks for."""

    name: str
    count: int
    requests: Amounts
    least: int | None = None
    selector: Mapping[str, str] | None = None
    tolerations: tuple[Mapping[str, Any], ...] = ()
    terms: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    placement: Placement | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job as Kueue queues it. ``created`` orders jobs of equal priority: whole seconds, of any origin."""

    namespace: str
    name: str
    queue: str
    pod_sets: tuple[PodSet, ...]
    priority: int = 0
    created: int = 0

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"
