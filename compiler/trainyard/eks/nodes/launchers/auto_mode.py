"""EKS Auto Mode: a NodePool with a NodeClass of EKS, which launches, patches and repairs the nodes itself."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.job import Job
from trainyard.core.pools.pools import Pool
from trainyard.core.pools.spec import NodePool
from trainyard.eks.nodes.auto import auto_nodes, check_life, refused, root_volume
from trainyard.eks.settings.launcher import (
    Drainer,
    NoCommands,
    PoolLauncher,
    Refused,
    Repairs,
    Volume,
    share_repaired,
)
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.models.cluster import ClusterSpec
from trainyard.plan import Plan, PlanItem
from trainyard.plan.context import Context
from trainyard.plan.scheduling import NODEPOOL_LABEL


class AutoMode(PoolLauncher):
    """The launcher of every pool of a cluster with EKS Auto Mode."""

    name = "EKS Auto Mode"
    place = 1
    key = ""
    code = "RES190"
    no_commands = NoCommands(
        "nodes of EKS Auto Mode run no commands when they boot",
        "remove it, or `autoMode`: over TCP every node mounts it",
    )
    no_huge_pages = (
        "pods on nodes of EKS Auto Mode ask for no huge pages, since their number is not documented"
    )
    ages = True
    disks = "EKS user guide, automode-learn-instances: considerations"
    part_label = NODEPOOL_LABEL
    brings_efa_plugin = False
    made_by = "EKS"
    drains_blocks = Drainer("EKS", None)
    instance_labels = False

    def launches(self, spec: ClusterSpec, pool: NodePool) -> bool:
        return ClusterSection.of(spec).auto_mode is not None

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        yield from refused(context, pool)

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanItem]:
        yield from auto_nodes(context, pool)

    def root_volume(self, plan: Plan, pool: str) -> Volume | None:
        return root_volume(plan, pool)

    def repairs(self, plan: Plan, pool: str) -> Repairs:
        source = "EKS user guide, node-health: enabled with EKS Auto Mode"
        return Repairs(self.name, source, watches=True)

    def most_repaired(self, pool: NodePool) -> tuple[int, str]:
        return share_repaired(pool.nodes.max)

    def check_job(self, context: Context, job: Job) -> None:
        check_life(context, job)


LAUNCHER = AutoMode()
