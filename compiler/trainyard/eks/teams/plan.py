"""What surrounds jobs: namespaces, quotas, access, network policies, pod priorities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace(PlanItem):
    """A namespace, with Pod Security level and labels. ``prune`` off keeps it when it leaves git."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    prune: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceQuota(PlanItem):
    """A ResourceQuota: the ceiling of a namespace over everything in it, or where ``scoped`` over some pods."""

    name: str
    namespace: str
    hard: Mapping[str, Quantity] = field(default_factory=dict)
    scoped: bool = False


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer of a NetworkPolicy: namespaces by label and pods by label, or a CIDR with exceptions."""

    namespaces: Mapping[str, str] | None = None
    pods: Mapping[str, str] | None = None
    cidr: str | None = None
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkRule:
    """Peers and ports (protocol, port) of one direction; no peers means all."""

    peers: tuple[Peer, ...] = ()
    ports: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPolicy(PlanItem):
    """A NetworkPolicy over all pods of a namespace. ``None`` leaves a direction alone."""

    name: str
    namespace: str
    ingress: tuple[NetworkRule, ...] | None = None
    egress: tuple[NetworkRule, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPriority(PlanItem):
    """scheduling.k8s.io/v1 PriorityClass."""

    name: str
    value: int
    preempts: bool = True
    description: str = ""
