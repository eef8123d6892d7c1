"""Partitions: the queues of ParallelCluster, each with compute resources whose nodes are Slurm's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trainyard.core.pools.plan import FixedPool
from trainyard.extensions.parallelcluster.settings.node_scripts import NodeScripts
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem

PARTITION = "trainyard.dev/partition"
"""The label by which a job names its partition; Slurm has no labels."""
POOL_TAG = "trainyard-pool"
"""The tag of AWS that all nodes of a pool have, whatever their partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeResource(PlanItem):
    """Nodes of a partition of one or several types: ``least`` of them are always on, and there are ``most`` at most.

    ``reservation``: the id of the capacity reservation that they come from. ``placement``: whether they are in a
    cluster placement group, and ``group`` the name of one that exists. ``efa``: they have EFA.
    """

    name: str
    instance_types: tuple[str, ...]
    least: int
    most: int
    efa: bool = False
    reservation: str | None = None
    placement: bool | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(FixedPool):
    """A partition of Slurm, which ParallelCluster calls a queue.

    ``capacity`` is CAPACITY_BLOCK, ONDEMAND or SPOT; ``root_size`` in GiB, with ``root_iops`` and ``root_throughput``
    (MiB/s) where they are said. ``gpu_check``: DCGM tests the GPUs before each job. ``policies``: ARNs of IAM
    policies of its nodes. ``security_groups``: those of its nodes beside ParallelCluster's own. ``scripts``: what
    nodes run when they are set up.
    """

    single: ClassVar[bool] = False
    # ParallelCluster's image has 45 GiB, not 20 (aws-parallelcluster 3.16.1, RootVolumeSizeValidator); enroot has an
    # image in layers, as it imported it and unpacked (enroot 3.4.1, cmd/import and cmd/create).
    beside_images: ClassVar[Quantity] = Quantity.gib(25 + 2 * 30)

    capacity: str
    resources: tuple[ComputeResource, ...]
    security_groups: tuple[str, ...] = ()
    root_size: int | None = None
    root_iops: int | None = None
    root_throughput: int | None = None
    gpu_check: bool = False
    policies: tuple[str, ...] = ()
    scripts: NodeScripts = NodeScripts()


def reservations_of(resources: Sequence[ComputeResource]) -> tuple[str, ...]:
    """The reservations that the nodes of a partition come from."""
    ids = (one.reservation for one in resources)
    return tuple(reservation for reservation in ids if reservation)


def group_of(partition: str, resources: Sequence[ComputeResource]) -> tuple[str | None, str | None]:
    """The placement group of a partition's nodes, or of the first of several, and its strategy."""
    for one in resources:
        if one.group:
            return one.group, None
        if one.placement:
            # aws-parallelcluster 3.16.1, cluster_stack.py: one for each compute resource, of the strategy cluster
            return f"{partition}-{one.name}", "cluster"
    return None, None
