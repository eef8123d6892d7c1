"""What a cluster costs by item: its nodes and AWS services, each with its price, or none if it is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from compiler.catalog.prices import Price, auto_mode_fee, block, on_demand, service
from compiler.core.jobs.plan import Gang
from compiler.core.jobs.spec import Job, JobsSection
from compiler.core.pools import spec as spec_pools
from compiler.core.pools.spec import PoolsSection, in_words
from compiler.core.storage.spec import Storage, StorageSection
from compiler.dataclass import dataclass
from compiler.plan.units import Quantity
from compiler.platforms.eks.cluster.plan import Cluster
from compiler.platforms.eks.network.plan import MadeNetwork
from compiler.platforms.eks.nodes.plan import (
    AutoNodeClass,
    BlockDevice,
    NodeClass,
    NodeGroup,
    NodePool,
)
from compiler.platforms.eks.settings.spec import ClusterSection
from compiler.report.subject import Subject

MONTH = 730
"""Hours of a month, as the AWS Pricing Calculator counts it."""
_BLOCK = "block"
_WORDS = {
    "on-demand": "on demand",
    "spot": "spot, at most",
    "reserved": "reserved: paid whether used or not",
    _BLOCK: "Capacity Block: paid when it is bought",
}
_ALWAYS = "always"
_WITH_NODES = "while its nodes run"
_SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that is paid for: how many there always are, how many at most, and USD an hour of one.

    ``usd`` is ``None`` where no price is known. ``prices`` are those that it is made of. ``block``: hours for which it
    is bought beforehand; 0 where the number is not set, and ``None`` where it is paid by the hour.
    """

    name: str
    what: str
    least: int
    most: int
    usd: float | None
    how: str
    prices: tuple[Price, ...] = ()
    block: float | None = None
    node: bool = False

    @property
    def always(self) -> float:
        """USD an hour that is always paid."""
        if self.block is not None:
            return 0.0
        return self.least * (self.usd or 0.0)

    @property
    def at_most(self) -> float:
        """USD an hour when all of it is there."""
        return self.most * (self.usd or 0.0)

    def is_exact(self, region: str) -> bool:
        """Whether its prices are those of a Region."""
        return all(price.region == region for price in self.prices)


@dataclass(frozen=True, slots=True)
class Total:
    """USD an hour that is always paid and at most, and whether all prices are of the Region; what has none is left
    out."""

    always: float
    at_most: float
    exact: bool


def total(items: Iterable[Item], region: str) -> Total:
    """The sums over all that has a price."""
    always = 0.0
    at_most = 0.0
    exact = True
    for item in items:
        always += item.always
        at_most += item.at_most
        exact = exact and item.is_exact(region)
    return Total(always, at_most, exact)


def bill(subject: Subject) -> list[Item]:
    """Everything that a cluster is paid for by the hour, by the month or beforehand; not what is paid by use."""
    items = list(_nodes(subject))
    items += _around(subject)
    items += _root_volumes(subject)
    for storage in StorageSection.of(subject.spec).storage:
        items += _storage(subject, storage)
    return items


def node_price(subject: Subject, names: list[str]) -> Price | None:
    """An hour on demand of the dearest of several types, known only where all of them are."""
    prices = []
    for name in names:
        price = on_demand(subject.catalog, name, subject.spec.region)
        if price is None:
            return None
        prices.append(price)
    return max(prices, key=lambda price: price.usd)


# --- nodes


def _nodes(subject: Subject) -> Iterator[Item]:
    """The system nodes, and each pool. How many nodes run the controllers of a cluster with EKS Auto Mode, it says."""
    eks = ClusterSection.of(subject.spec).eks
    auto = ClusterSection.of(subject.spec).auto_mode is not None
    if not auto:
        system = eks.system_nodes
        price = node_price(subject, [system.instance_type])
        yield Item(
            name=_SYSTEM,
            what=system.instance_type,
            least=system.nodes,
            # One more while the group is updated: an EKS managed node group surges by one.
            most=system.nodes + 1,
            usd=_usd(price),
            how=_WORDS["on-demand"],
            prices=_known(price),
            node=True,
        )
    for pool in PoolsSection.of(subject.spec).node_pools:
        yield _pool(subject, pool)
        if auto:
            yield _fee(subject, pool)
    if auto:
        yield Item(
            name="nodes of general-purpose",
            what="as many and as large as EKS takes for the controllers",
            least=1,
            most=1,
            usd=None,
            how=_ALWAYS,
        )


def _fee(subject: Subject, pool: spec_pools.NodePool) -> Item:
    """The fee of EKS Auto Mode for each node of a pool: the largest of its types."""
    region = subject.spec.region
    fees = [auto_mode_fee(subject.catalog, name, region) for name in pool.instance_types]
    known = [fee for fee in fees if fee is not None]
    fee = None
    if len(known) == len(fees):
        fee = max(known, key=lambda price: price.usd)
    return Item(
        name=f"EKS Auto Mode for {pool.name}",
        what="its fee for each node",
        least=pool.nodes.min,
        most=pool.nodes.max,
        usd=_usd(fee),
        how=_WITH_NODES,
        prices=_known(fee),
    )


def _pool(subject: Subject, pool: spec_pools.NodePool) -> Item:
    how = in_words(pool.capacity_types[0])
    if how == _BLOCK:
        price = _dearest_block(subject, pool.instance_types)
        hours = _hours(pool)
    else:
        price = node_price(subject, pool.instance_types)
        hours = None
    return Item(
        name=pool.name,
        what=", ".join(pool.instance_types),
        least=_always(pool),
        most=pool.nodes.max,
        usd=_usd(price),
        how=_WORDS[how],
        prices=_known(price),
        block=hours,
        node=True,
    )


def _dearest_block(subject: Subject, names: list[str]) -> Price | None:
    prices = []
    for name in names:
        price = block(name, subject.spec.region)
        if price is None:
            return None
        prices.append(price)
    return max(prices, key=lambda price: price.usd)


def _hours(pool: spec_pools.NodePool) -> float:
    """How long a Capacity Block lasts; 0 where the spec does not say it."""
    bought = pool.block
    if bought is None or bought.starts is None or bought.ends is None:
        return 0.0
    starts = datetime.fromisoformat(bought.starts)
    ends = datetime.fromisoformat(bought.ends)
    return (ends - starts).total_seconds() / 3600


def _always(pool: spec_pools.NodePool) -> int:
    """Nodes that are always paid, even if no job runs: those that are always on, and all of a reservation."""
    if pool.capacity_types == ("reserved",):
        return pool.nodes.max
    return pool.nodes.min


# --- what is around the nodes


def _around(subject: Subject) -> Iterator[Item]:
    """The control plane, and the way out of the VPC that the bootstrap makes."""
    yield _unit(subject, "control plane", "EKS", 1, "eks cluster hour")
    gateways = _gateways(subject)
    if gateways:
        yield _unit(subject, "NAT gateways", "the way out of the VPC", gateways, "nat gateway hour")
        yield _unit(
            subject, "public IPv4 addresses", "of the NAT gateways", gateways, "public ipv4 hour"
        )
    made = subject.plan.one(MadeNetwork)
    if made is not None and made.endpoints:
        zones = len(made.subnets)
        yield _unit(
            subject,
            "interface endpoints",
            f"{len(made.endpoints)} in {zones} zones",
            len(made.endpoints) * zones,
            "interface endpoint hour",
        )


def _gateways(subject: Subject) -> int:
    """NAT gateways, of a VPC of its own stack or of the one that eksctl makes, which has one in each zone."""
    made = subject.plan.one(MadeNetwork)
    if made is not None:
        by_kind = {"none": 0, "single": 1, "perZone": len(made.subnets)}
        return by_kind[made.nat]
    cluster = subject.plan.one(Cluster)
    if cluster is None or cluster.network.vpc or cluster.network.subnets:
        return 0
    return len(cluster.network.zones)


def _unit(subject: Subject, name: str, what: str, count: int, unit: str) -> Item:
    price = service(unit, subject.spec.region)
    return Item(
        name=name,
        what=what,
        least=count,
        most=count,
        usd=_usd(price),
        how=_ALWAYS,
        prices=_known(price),
    )


# --- volumes and file systems


def _root_volumes(subject: Subject) -> Iterator[Item]:
    """The root volume of each node, which is there as long as the node is."""
    cluster = subject.plan.one(Cluster)
    groups = cluster.node_groups if cluster is not None else ()
    system = ClusterSection.of(subject.spec).eks.system_nodes
    for group in groups:
        if group.name == _SYSTEM and group.volume is not None:
            yield _disks(
                subject,
                "root volumes of system",
                Quantity.gib(group.volume),
                system.nodes,
                system.nodes + 1,
                _ALWAYS,
            )
    for pool in PoolsSection.of(subject.spec).node_pools:
        root = _root(subject, pool)
        if root is not None:
            yield root


def _root(subject: Subject, pool: spec_pools.NodePool) -> Item | None:
    name = f"root volumes of {pool.name}"
    least, most = pool.nodes.min, pool.nodes.max
    for device in _root_devices(subject, pool.name):
        return _disks(
            subject, name, device.size, least, most, _WITH_NODES, device.iops, device.throughput
        )
    return None


def _root_devices(subject: Subject, pool: str) -> Iterator[BlockDevice]:
    """The volumes of a pool's nodes, from what launches them."""
    plan = subject.plan
    for part in subject.node_pools(pool):
        if not isinstance(part, NodePool):
            continue
        auto = plan.named(AutoNodeClass, part.node_class)
        if auto is not None and auto.ephemeral is not None:
            yield auto.ephemeral
        own = plan.named(NodeClass, part.node_class)
        if own is not None:
            yield from own.block_devices
    for group in plan.of(NodeGroup):
        if group.title == pool and group.volume is not None:
            yield BlockDevice(
                device="",
                size=Quantity.gib(group.volume),
                iops=group.volume_iops,
                throughput=group.volume_throughput,
            )


_FREE_IOPS, _FREE_THROUGHPUT = 3000, 125
"""What the price of a gp3 volume's size holds (EBS pricing, General Purpose SSD)."""


def _disks(
    subject: Subject,
    name: str,
    size: Quantity,
    least: int,
    most: int,
    how: str,
    iops: int | None = None,
    throughput: int | None = None,
) -> Item:
    """gp3 volumes of a size: paid by GiB, and for what is faster than every volume is."""
    region = subject.spec.region
    more_iops = max(0, (iops or 0) - _FREE_IOPS)
    faster = max(0, (throughput or 0) - _FREE_THROUGHPUT)
    parts = [
        (_gib(size), "gp3 GiB month"),
        (more_iops, "gp3 IOPS month"),
        (faster, "gp3 MiB/s month"),
    ]
    prices = []
    usd = 0.0
    for amount, unit in parts:
        price = service(unit, region)
        if amount and price is not None:
            usd += amount * price.usd / MONTH
            prices.append(price)
    return Item(
        name=name,
        what=f"EBS gp3, {_gib(size)} GiB",
        least=least,
        most=most,
        usd=usd,
        how=how,
        prices=tuple(prices),
    )


def _storage(subject: Subject, storage: Storage) -> Iterator[Item]:
    """A storage that is paid by its size, whoever made it. What is in a bucket is paid by use."""
    lustre = storage.fsx_lustre
    if lustre is not None:
        yield _file_system(subject, storage)
        created = storage.created_lustre
        if created is not None and created.metadata is not None and created.metadata.iops:
            yield _unpriced(f"metadata IOPS of {storage.name}", f"{created.metadata.iops} IOPS")
    disk = storage.disk
    if disk is not None:
        jobs = _mounting(subject, storage)
        if disk.each == "pod":
            least, most = 0, sum(job.nodes or 1 for job in jobs)
            how = "while its jobs run"
        else:
            least = most = len({job.namespace for job in jobs})
            how = _ALWAYS
        yield _disks(
            subject,
            storage.name,
            Quantity.parse(str(disk.size)),
            least,
            most,
            how,
            disk.iops,
            disk.throughput,
        )
    volume = storage.existing_disk
    if volume is not None:
        yield _unpriced(storage.name, f"EBS volume {volume.id}, whose type is not said")


def _mounting(subject: Subject, storage: Storage) -> list[Gang]:
    """The jobs that mount a storage."""
    names = {job.name for job in JobsSection.of(subject.spec).jobs if _mounts(job, storage)}
    return [job for job in subject.plan.every(Gang) if job.source_name in names]


def _mounts(job: Job, storage: Storage) -> bool:
    return any(mount.storage == storage.name for mount in job.mounts)


def _file_system(subject: Subject, storage: Storage) -> Item:
    lustre = storage.fsx_lustre
    assert lustre is not None, "the storage is of FSx for Lustre"
    kind: str = lustre.deployment
    if lustre.throughput_per_tib is not None:
        kind = f"{kind}/{lustre.throughput_per_tib}"
        speed = f", {lustre.throughput_per_tib} MB/s for each TiB"
    elif kind.startswith("PERSISTENT"):
        speed = ", `throughputPerTiB` not said"
    else:
        speed = ""
    gib = _gib(Quantity.parse(str(lustre.size)))
    price = service(f"{kind} GiB month", subject.spec.region)
    usd = None
    if price is not None:
        usd = gib * price.usd / MONTH
    return Item(
        name=storage.name,
        what=f"FSx for Lustre {lustre.deployment}, {gib:,} GiB{speed}",
        least=1,
        most=1,
        usd=usd,
        how=_ALWAYS,
        prices=_known(price),
    )


def _unpriced(name: str, what: str) -> Item:
    return Item(name=name, what=what, least=1, most=1, usd=None, how=_ALWAYS)


def _gib(size: Quantity) -> int:
    return -(-size.value // 1024**3)


def _usd(price: Price | None) -> float | None:
    return None if price is None else price.usd


def _known(price: Price | None) -> tuple[Price, ...]:
    return () if price is None else (price,)
