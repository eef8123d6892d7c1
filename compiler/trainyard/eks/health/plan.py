"""Node health: detectors, and what acts on what they find."""

from __future__ import annotations

from trainyard.eks.rbac.plan import PolicyRule
from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem
from trainyard.plan.scheduling import Toleration

# Conditions of the EKS node monitoring agent, where False means sick; the node-problem-detector has it the
# other way round (eks-node-monitoring-agent v1.7.0; node-problem-detector v1.36.0 pkg/types).
AGENT_CONDITIONS = (
    "AcceleratedHardwareReady",
    "ContainerRuntimeReady",
    "KernelReady",
    "NetworkingReady",
    "StorageReady",
)

DETECTOR_RIGHTS = (
    PolicyRule(("",), ("nodes",), ("get",)),
    PolicyRule(("",), ("nodes/status",), ("patch",)),
    PolicyRule(("", "events.k8s.io"), ("events",), ("create", "patch", "update")),
)
TAINTER_RIGHTS = (PolicyRule(("",), ("nodes",), ("get", "list", "patch")),)
BURN_IN_RIGHTS = (PolicyRule(("",), ("nodes",), ("get", "patch")),)
"""What the pods of each may do in the whole cluster."""


@dataclass(frozen=True, slots=True)
class MonitorRule:
    """A rule of a node-problem-detector monitor. ``permanent`` rules set a node condition, others an event. In a custom
    plugin, which runs a script, ``pattern`` is empty."""

    permanent: bool
    condition: str | None
    reason: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemMonitor(PlanItem):
    """A monitor of the node-problem-detector: a log monitor (``kmsg``) or a custom plugin."""

    name: str
    plugin: str
    source: str
    conditions: tuple[tuple[str, str, str], ...]
    rules: tuple[MonitorRule, ...]
    skip_initial_status: bool = False

    def sets(self) -> tuple[str, ...]:
        """The node conditions that it can set."""
        types = (type_ for type_, _, _ in self.conditions)
        return tuple(dict.fromkeys(types))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemDetector(PlanItem):
    """The node-problem-detector DaemonSet and the monitors in its ConfigMap."""

    name: str
    namespace: str
    image: str
    monitors: tuple[ProblemMonitor, ...]
    tolerations: tuple[Toleration, ...]
    node_selector: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionTainter(PlanItem):
    """A controller that taints nodes whose condition is ``True``, so that nothing new lands on them.

    It is what acts on the node-problem-detector's conditions: Karpenter's repair looks only at ``Ready`` and
    the monitoring agent's five (karpenter-provider-aws v1.14.1, RepairPolicies).
    """

    name: str
    namespace: str
    image: str
    conditions: tuple[str, ...]
    taint_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnIn(PlanItem):
    """A DaemonSet that tests new nodes of a pool, which have a startup taint until they pass.

    ``gpus`` and ``efa`` are the devices that a node must have; ``python`` is the image of what takes the taint away.
    ``level`` is that of DCGM's diagnostics, by the image ``dcgm``; 0 is none.
    """

    name: str
    namespace: str
    image: str
    python: str
    taint_key: str
    gpus: int
    efa: int
    node_selector: tuple[tuple[str, str], ...]
    level: int = 0
    dcgm: str = ""
