"""Who takes sick nodes of a job away, and after how long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from trainyard.core.pools.pools import DIAGNOSTICS
from trainyard.core.pools.waits import REPAIR, REPAIR_SILENT
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.health.plan import BurnIn
from trainyard.eks.nodes.launchers import chosen
from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.failures.parts import Part, new_node
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Duration
from trainyard.plan import Plan

_AGENT = "eks-node-monitoring-agent"
_GPUS = "AcceleratedHardwareReady"
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
    declared = planned.pool(pool)
    assert declared is not None, "the jobs of a spec have its pools"
    said = chosen(planned.spec, declared).repairs(plan, pool)
    test = _test(plan, pool)
    if said.off:
        return Repairing(source=said.source, why=said.off, test=test)
    repairs = Repairing(
        who=said.who,
        silent=REPAIR_SILENT.seconds,
        broken=REPAIR.seconds,
        source=said.source,
        watcher=_WATCHER,
        test=test,
    )
    if not said.watches and not is_watched(plan):
        why = "nobody sees that a GPU is sick: `health.nodeMonitoringAgent` is off"
        return replace(repairs, broken=None, watcher="", why=why)
    if not said.overrides:
        return repairs
    why = "nothing follows one of these Xids: `nodeRepairConfigOverrides` says `NoAction`"
    return replace(repairs, by_xid=dict(_overrides(said.overrides)), why=why)


def is_watched(plan: Plan) -> bool:
    """Whether EKS' node monitoring agent says which GPUs are sick."""
    cluster = plan.one(Cluster)
    addons = cluster.addons if cluster is not None else ()
    names = [addon.name for addon in addons]
    names += [release.chart for release in plan.of(HelmRelease)]
    return _AGENT in names


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
