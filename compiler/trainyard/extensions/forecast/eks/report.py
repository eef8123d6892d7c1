"""What nodes and services of EKS cost, and how sick nodes are repaired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from trainyard.catalog.prices import auto_mode_fee
from trainyard.core.pools import spec as spec_pools
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.network.plan import MadeNetwork
from trainyard.eks.nodes.launchers import chosen
from trainyard.eks.settings.launcher import SICK_SHARE, SYSTEM
from trainyard.eks.settings.spec import ClusterSection
from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Text, paragraph, table
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
    unit_item,
    usd_of,
)
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.language.units import Quantity

__all__ = ["costs", "repair"]


def costs(planned: PlannedCluster) -> Iterator[Item]:
    """What is paid beside storage: nodes, the control plane, the way out of the VPC, root volumes."""
    yield from _nodes(planned)
    yield from _around(planned)
    yield from _root_volumes(planned)


def _nodes(planned: PlannedCluster) -> Iterator[Item]:
    """The system nodes, and each pool. How many nodes run the controllers of a cluster with EKS Auto Mode, it says."""
    eks = ClusterSection.of(planned.spec).eks
    auto = ClusterSection.of(planned.spec).auto_mode is not None
    if not auto:
        system = eks.system_nodes
        price = node_price(planned, [system.instance_type])
        yield Item(
            name=SYSTEM,
            what=system.instance_type,
            least=system.nodes,
            # One more while the group is updated: an EKS managed node group surges by one.
            most=system.nodes + 1,
            usd=usd_of(price),
            how=ON_DEMAND,
            prices=prices_known(price),
            node=True,
        )
    for pool in planned.pools():
        yield pool_item(planned, pool)
        if auto:
            yield _fee(planned, pool)
    if auto:
        yield Item(
            name="nodes of general-purpose",
            what="as many and as large as EKS takes for the controllers",
            least=1,
            most=1,
            usd=None,
            how=ALWAYS,
        )


def _fee(planned: PlannedCluster, pool: spec_pools.NodePool) -> Item:
    """The fee of EKS Auto Mode for each node of a pool: the largest of its types."""
    region = planned.spec.region
    fees = [auto_mode_fee(planned.catalog, name, region) for name in pool.instance_types]
    found = [fee for fee in fees if fee is not None]
    fee = None
    if len(found) == len(fees):
        fee = max(found, key=lambda price: price.usd)
    return Item(
        name=f"EKS Auto Mode for {pool.name}",
        what="its fee for each node",
        least=pool.nodes.min,
        most=pool.nodes.max,
        usd=usd_of(fee),
        how=WITH_NODES,
        prices=prices_known(fee),
        pool=pool.name,
    )


def _around(planned: PlannedCluster) -> Iterator[Item]:
    """The control plane, and the way out of the VPC that the bootstrap makes."""
    yield unit_item(planned, "control plane", "EKS", 1, "eks cluster hour")
    cluster = planned.plan.one(Cluster)
    version = cluster.kubernetes if cluster is not None else ""
    if _is_extended(planned, version):
        what = f"Kubernetes {version}, which left standard support"
        yield unit_item(planned, "extended support", what, 1, "eks extended support hour")
    gateways = _gateways(planned)
    if gateways:
        yield unit_item(
            planned, "NAT gateways", "the way out of the VPC", gateways, "nat gateway hour"
        )
        yield unit_item(
            planned, "public IPv4 addresses", "of the NAT gateways", gateways, "public ipv4 hour"
        )
    made = planned.plan.one(MadeNetwork)
    if made is not None and made.endpoints:
        zones = len(made.subnets)
        yield unit_item(
            planned,
            "interface endpoints",
            f"{len(made.endpoints)} in {zones} zones",
            len(made.endpoints) * zones,
            "interface endpoint hour",
        )


def _is_extended(planned: PlannedCluster, version: str) -> bool:
    """Whether EKS asks for more for a version, as far as its dates are known."""
    minor = planned.catalog.newest_release.minors.get(version)
    if planned.today is None or minor is None or not minor.support_ends:
        return False
    standard, extended = (
        date.fromisoformat(minor.support_ends[support]) for support in ("standard", "extended")
    )
    return standard <= planned.today < extended


def _gateways(planned: PlannedCluster) -> int:
    """NAT gateways, of a VPC of its own stack or of the one that eksctl makes, which has one in each zone."""
    made = planned.plan.one(MadeNetwork)
    if made is not None:
        by_kind = {"none": 0, "single": 1, "perZone": len(made.subnets)}
        return by_kind[made.nat]
    cluster = planned.plan.one(Cluster)
    if cluster is None or cluster.network.vpc or cluster.network.subnets:
        return 0
    return len(cluster.network.zones)


def _root_volumes(planned: PlannedCluster) -> Iterator[Item]:
    """The root volume of each node, which is there as long as the node is."""
    cluster = planned.plan.one(Cluster)
    groups = cluster.node_groups if cluster is not None else ()
    system = ClusterSection.of(planned.spec).eks.system_nodes
    for group in groups:
        if group.name == SYSTEM and group.volume is not None:
            volume = Gp3(Quantity.gib(group.volume))
            name = "root volumes of system"
            yield disk_items(planned, name, volume, ALWAYS, system.nodes, system.nodes + 1)
    for pool in planned.pools():
        root = _root(planned, pool)
        if root is not None:
            yield root


def _root(planned: PlannedCluster, pool: spec_pools.NodePool) -> Item | None:
    name = f"root volumes of {pool.name}"
    least, most = pool.nodes.min, pool.nodes.max
    volume = chosen(planned.spec, pool).root_volume(planned.plan, pool.name)
    if volume is None:
        return None
    kind = Gp3(volume.size, volume.iops, volume.throughput)
    return disk_items(planned, name, kind, WITH_NODES, least, most, pool.name)


def repair(planned: PlannedCluster) -> Iterator[Block]:
    """How many sick nodes of each pool are replaced."""
    rows: list[tuple[Text, ...]] = []
    for node_pool in planned.pools():
        launcher = chosen(planned.spec, node_pool)
        sick, why = launcher.most_repaired(node_pool)
        rows.append((node_pool.name, str(node_pool.nodes.max), Explained(str(sick), why)))
    if not rows:
        return
    yield Heading("Repair of nodes")
    yield paragraph(
        f"Where more than {SICK_SHARE}% of a pool's nodes are sick at a time, none of them is replaced, and an event "
        "`NodeRepairBlocked` of the node says so: delete its NodeClaim (`kubectl delete nodeclaim NAME`), or terminate "
        "the instance of a node group. The share is of the nodes that are there: fewer where a pool has scaled down."
    )
    header = ("pool", "nodes:", "sick nodes that are replaced, at most:")
    yield table(header, rows)
