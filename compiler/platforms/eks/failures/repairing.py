"""Who takes sick nodes of a job away, and after how long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from compiler.core.pools.pools import DIAGNOSTICS
from compiler.core.pools.waits import REPAIR, REPAIR_SILENT
from compiler.dataclass import dataclass
from compiler.failures.footing import Footing
from compiler.failures.parts import Part, new_node
from compiler.output.body import at as value
from compiler.plan import Plan
from compiler.plan.units import Duration
from compiler.planned import PlannedCluster
from compiler.platforms.eks.cluster.plan import Cluster
from compiler.platforms.eks.flux.plan import HelmRelease
from compiler.platforms.eks.health.plan import BurnIn
from compiler.platforms.eks.nodes.plan import NodeGroup, NodePool

_AGENT = "eks-node-monitoring-agent"
_GPUS = "AcceleratedHardwareReady"
_KARPENTER = "karpenter-provider-aws v1.14.1, RepairPolicies"
_GROUPS = "EKS user guide, node-repair"
_AUTO = "EKS user guide, node-health: enabled with EKS Auto Mode"
PLUGIN = ", device plugin"
"""What a new node starts after its driver."""


_WATCHER = "EKS' node monitoring agent sets AcceleratedHardwareReady to False"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairing:
    """``who`` replaces a node: ``silent`` seconds after it became NotReady, ``broken`` seconds after its GPU failed.

    ``None`` where nobody does, or where it is not known after how long: ``why`` says it. ``by_xid``: the seconds that a
    node group is told for single Xids, ``None`` for no action. ``watcher``: who sees that a GPU is sick. ``test``: the
    diagnostics of a new node, and ``checks`` what else it must pass. ``resumes``: who starts the job again once the
    node is replaced, where its own kind does not say it.
    """

    who: str = "nobody"
    silent: int | None = None
    broken: int | None = None
    source: str
    why: str = ""
    by_xid: Mapping[int, int | None] = field(default_factory=dict)
    watcher: str = ""
    test: int = 0
    checks: tuple[Part, ...] = ()
    resumes: str = ""

    def after(self, codes: Iterable[int]) -> int | None:
        """The longest time until a node with one of some Xids is replaced; ``None`` where one of them is left."""
        times = [self.by_xid.get(code, self.broken) for code in codes]
        known = [time for time in times if time is not None]
        if len(known) < len(times):
            return None
        return max(known, default=self.broken)

    def replaces(self, after: int | None, since: str = "") -> str:
        """Who replaces the node, and after how long, in words; ``since``: of what."""
        if after is None:
            return self.why
        return f"{self.who} replaces the node after {Duration(after)}{since}"

    def nodes(self, job: Footing, *, replaced: bool) -> tuple[Part, ...]:
        """Until a node is there in the place of the one that failed."""
        if replaced:
            return new_node(self.test, job.spare, PLUGIN), *self.checks
        return Part("new node", 0, None, f"0s where a node is free; {self.why}"), *self.checks


def repairing(planned: PlannedCluster, job: Footing) -> Repairing:
    """Who repairs the nodes that a job tries first."""
    plan, pool = planned.plan, job.gang.pool
    test = _test(plan, pool)
    for group in plan.of(NodeGroup):
        if group.title == pool:
            return replace(_of_group(group, watched=is_watched(plan)), test=test)
    if any(part.auto for part in plan.of(NodePool)):
        return replace(_both("EKS Auto Mode", _AUTO), test=test)
    if not any(_repairs(release) for release in plan.of(HelmRelease)):
        why = "nobody replaces a sick node: `health.nodeRepair` is off"
        return Repairing(source=_KARPENTER, why=why, test=test)
    repairs = _both("Karpenter", _KARPENTER)
    if not is_watched(plan):
        repairs = _blind(repairs)
    return replace(repairs, test=test)


def _both(who: str, source: str) -> Repairing:
    """Somebody who replaces nodes that are silent, and those with a broken GPU."""
    return Repairing(
        who=who,
        silent=REPAIR_SILENT.seconds,
        broken=REPAIR.seconds,
        source=source,
        watcher=_WATCHER,
    )


def _blind(repairs: Repairing) -> Repairing:
    why = "nobody sees that a GPU is sick: `health.nodeMonitoringAgent` is off"
    return replace(repairs, broken=None, watcher="", why=why)


def is_watched(plan: Plan) -> bool:
    """Whether EKS' node monitoring agent says which GPUs are sick."""
    cluster = plan.one(Cluster)
    addons = cluster.addons if cluster is not None else ()
    names = [addon.name for addon in addons]
    names += [release.chart for release in plan.of(HelmRelease)]
    return _AGENT in names


def _repairs(release: HelmRelease) -> bool:
    gate = value(release.values, "settings", "featureGates", "nodeRepair")
    return release.chart == "karpenter" and gate is True


def _of_group(group: NodeGroup, *, watched: bool) -> Repairing:
    if not group.repair:
        why = "nobody replaces a sick node: `nodeRepairConfig.enabled` of the node group is off"
        return Repairing(source=_GROUPS, why=why)
    repairs = _both("EKS", _GROUPS)
    if not watched:
        return _blind(repairs)
    by_xid = dict(_overrides(group.repair_config.get("nodeRepairConfigOverrides") or ()))
    why = "nothing follows one of these Xids: `nodeRepairConfigOverrides` says `NoAction`"
    return replace(repairs, by_xid=by_xid, why=why)


def _overrides(overrides: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, int | None]]:
    """The seconds until a node group acts on an Xid, of those for which it is told another time or action."""
    for override in overrides:
        reason = str(override["nodeUnhealthyReason"])
        code = reason.removeprefix("NvidiaXID").removesuffix("Error")
        if override["nodeMonitoringCondition"] != _GPUS or not code.isdecimal():
            continue
        acts = override["repairAction"] != "NoAction"
        yield int(code), override["minRepairWaitTimeMins"] * 60 if acts else None


def _test(plan: Plan, pool: str) -> int:
    """The seconds that DCGM's diagnostics of a new node of a pool take."""
    for burn_in in plan.of(BurnIn):
        if burn_in.name == f"burn-in-{pool}":
            return DIAGNOSTICS[burn_in.level].seconds
    return 0
