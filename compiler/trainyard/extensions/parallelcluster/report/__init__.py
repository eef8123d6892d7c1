"""What the report says of ParallelCluster: what its nodes cost, and how sick nodes are replaced."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.blocks import Block, Heading, paragraph, table
from trainyard.extensions.forecast.costs import (
    ALWAYS,
    ON_DEMAND,
    WITH_NODES,
    Gp3,
    Item,
    disk_items,
    node_price,
    pool_item,
    prices_known,
    usd_of,
)
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.extensions.parallelcluster.report import watching
from trainyard.language.units import Quantity

__all__ = ["costs", "repair"]


FAILED_STARTS = 10
"""Nodes of a partition that fail to start, one after another, before it is closed (ParallelCluster user guide,
slurm-protected-mode-v3: protected_failure_count)."""


def costs(planned: PlannedCluster) -> Iterator[Item]:
    """What is paid beside storage: the head node, the nodes of partitions, their root volumes, and who watches them."""
    cluster = planned.plan.one(SlurmCluster)
    assert cluster is not None
    price = node_price(planned, [cluster.head_type])
    yield Item(
        name="head node",
        what=cluster.head_type,
        least=1,
        most=1,
        usd=usd_of(price),
        how=ON_DEMAND,
        prices=prices_known(price),
        node=True,
    )
    if cluster.login is not None and cluster.login.count:
        login = cluster.login
        price = node_price(planned, [login.instance_type])
        yield Item(
            name="login nodes",
            what=login.instance_type,
            least=login.count,
            most=login.count,
            usd=usd_of(price),
            how=ON_DEMAND,
            prices=prices_known(price),
            node=True,
        )
    for pool in planned.pools():
        yield pool_item(planned, pool)
    assert cluster.head_gib is not None
    size = Quantity.gib(cluster.head_gib)
    yield disk_items(planned, "root volume of the head node", Gp3(size), ALWAYS)
    for pool in planned.pools():
        for partition in planned.plan.of(Partition):
            if partition.title == pool.name and partition.root_size is not None:
                name, nodes = f"root volumes of {pool.name}", pool.nodes
                size = Quantity.gib(partition.root_size)
                volume = Gp3(size, partition.root_iops, partition.root_throughput)
                yield disk_items(planned, name, volume, WITH_NODES, nodes.min, nodes.max, pool.name)
                break
    yield from watching.items(planned)


def repair(planned: PlannedCluster) -> Iterator[Block]:
    """When nodes are replaced, and when no longer."""
    rows = []
    for partition in planned.plan.of(Partition):
        checks = "it has none"
        if partition.gpu_check:
            checks = "before each job, by DCGM"
        (most,) = partition.limits.values()
        rows.append((partition.name, str(most), checks))
    if not rows:
        return
    yield Heading("Repair of nodes")
    yield paragraph(
        "The head node ends and replaces each node that Slurm takes for down, that EC2 says is impaired, or that "
        f"fails a check of its GPUs. Where {FAILED_STARTS} nodes of a partition fail to start one after another, it is "
        "closed and its jobs wait: find the cause in the logs, then run "
        "`pcluster update-compute-fleet --status START_REQUESTED`."
    )
    yield table(("partition", "nodes:", "GPUs are tested"), rows)
