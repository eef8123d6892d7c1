"""HyperPod as a launcher of the nodes of a pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.core.pods.plan import HUGEPAGES
from trainyard.core.pools.pools import Pool
from trainyard.eks.settings.launcher import NoCommands, PoolLauncher, Refused
from trainyard.extensions.hyperpod.groups.plan import GROUP, HEALTH, SCHEDULABLE
from trainyard.plan.base import PlanNode
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.catalog import Catalog
    from trainyard.catalog.prices import Price


class HyperPod(PoolLauncher):
    """The launcher of every pool of a cluster of HyperPod. Its nodes have no labels of Karpenter."""

    name = "HyperPod"
    code = "RES320"
    no_commands = NoCommands(
        "nodes of HyperPod run no commands of ours when they boot",
        "remove it: over TCP every node mounts it",
    )
    no_huge_pages = "nobody says how many huge pages nodes of HyperPod have"
    uncounted = (HUGEPAGES,)
    ages = False
    disks = "awsome-distributed-training 7217859, on_create_main.sh; SageMaker API, ClusterEbsVolumeConfig"
    disks_at = "/opt/dlami/nvme"
    made_by = "HyperPod"
    scripts = "hyperpod"
    own_label = True
    part_label = GROUP
    protection = {}
    instance_labels = False
    ready_labels = {HEALTH: SCHEDULABLE}
    untested = "it is an instance group of HyperPod, which tests its nodes by `deepHealthChecks`"

    def quota(self, context: Context, pool: Pool) -> tuple[str, str, bool]:
        """SageMaker developer guide, sagemaker-hyperpod-prerequisites: quotas; nothing of spot and training plans."""
        from trainyard.catalog.hyperpod import ml_name
        from trainyard.extensions.hyperpod.settings.spec import HyperPodSection

        planned = pool.name in HyperPodSection.of(context.spec).own.training_plans
        established = not planned and "spot" not in pool.spec.capacity_types
        return "sagemaker", f"{ml_name(pool.instance.name)} for cluster usage", established

    def type_label(self, name: str) -> str:
        from trainyard.catalog.hyperpod import ml_name, types

        return ml_name(name) if name in types() else ""

    def price(self, catalog: Catalog, name: str, region: str) -> Price | None:
        from trainyard.catalog.prices import sagemaker

        return sagemaker(catalog, name, region)

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        from trainyard.extensions.hyperpod.groups.groups import refused

        yield from refused(context, pool)

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanNode]:
        from trainyard.extensions.hyperpod.groups.groups import instance_group

        yield instance_group(context, pool)


LAUNCHER = HyperPod()
