"""EKS Auto Mode: a NodePool with a NodeClass of EKS, which launches, patches and repairs the nodes itself."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.core.pools.pools import Pool
from compiler.core.pools.spec import NodePool
from compiler.plan.base import PlanNode
from compiler.platforms.eks.settings.launcher import NoCommands, PoolLauncher, Refused
from compiler.platforms.eks.settings.spec import ClusterSection


class AutoMode(PoolLauncher):
    """The launcher of every pool of a cluster with EKS Auto Mode."""

    name = "EKS Auto Mode"
    place = 1
    code = "RES190"
    no_commands = NoCommands(
        "nodes of EKS Auto Mode run no commands when they boot",
        "remove it, or `autoMode`: over TCP every node mounts it",
    )
    huge_pages = False
    ages = True
    disks = "EKS user guide, automode-learn-instances: considerations"

    def launches(self, context: Context, pool: NodePool) -> bool:
        return ClusterSection.of(context.spec).auto_mode is not None

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        from compiler.platforms.eks.nodes.auto import refused

        yield from refused(pool)

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanNode]:
        from compiler.platforms.eks.nodes.auto import auto_nodes

        yield from auto_nodes(context, pool)

    def check_job(self, context: Context, job: Job) -> None:
        from compiler.platforms.eks.nodes.auto import check_life

        check_life(context, job)


LAUNCHER = AutoMode()
