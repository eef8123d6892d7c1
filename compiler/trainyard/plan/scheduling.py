"""Taints, tolerations, requirements and node labels: what decides which pods land on which nodes."""

from __future__ import annotations

from trainyard.language.dataclass import dataclass

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
NODEPOOL_LABEL = "karpenter.sh/nodepool"
HOSTNAME = "kubernetes.io/hostname"
POOL_LABEL, RESERVATION_LABEL = "trainyard.dev/pool", "trainyard.dev/reservation"
"""Of nodes whose pool has several reservations: the pool that all of them belong to, and the reservation of each."""


@dataclass(frozen=True, slots=True)
class Taint:
    """A node taint (core/v1 Taint)."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        text = self.key
        if self.value:
            text += f"={self.value}"
        if self.effect:
            text += f":{self.effect}"
        return text


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod toleration (core/v1 Toleration). Empty ``key`` or ``effect`` match every one."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Whether it matches a taint, by the rules of core/v1 (ToleratesTaint)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        return self.operator == "Exists" or (bool(self.key) and self.value == taint.value)


def untolerated(
    taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]
) -> tuple[Taint, ...]:
    """The taints that keep a pod away: hard ones that no toleration matches."""
    keeping = []
    for taint in taints:
        tolerated = any(toleration.tolerates(taint) for toleration in tolerations)
        if not tolerated and taint.effect != "PreferNoSchedule":
            keeping.append(taint)
    return tuple(keeping)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A node requirement (karpenter.sh/v1 NodePool spec.template.spec.requirements[])."""

    key: str
    operator: str
    values: tuple[str, ...] = ()
