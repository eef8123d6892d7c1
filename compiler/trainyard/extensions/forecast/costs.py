"""What is paid for: nodes and AWS services, each with its price, or none if it is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from trainyard.catalog.ebs import BASE_IOPS, BASE_THROUGHPUT
from trainyard.catalog.prices import MONTH, Price, block, dearest, on_demand_or_like, service
from trainyard.catalog.prices import lustre as prices_of_lustre
from trainyard.core.jobs.plan import Gang
from trainyard.core.jobs.spec import Job, JobsSection
from trainyard.core.pools import spec as spec_pools
from trainyard.core.pools.spec import in_words
from trainyard.core.storage.kinds import S3
from trainyard.core.storage.spec import Storage
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity

_BLOCK = "block"
_WORDS = {
    "on-demand": "on demand",
    "spot": "spot, at most",
    "reserved": "reserved: paid whether used or not",
    _BLOCK: "Capacity Block: paid when it is bought",
}
ON_DEMAND = _WORDS["on-demand"]
ALWAYS = "always"
WITH_NODES = "while its nodes run"


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
    pool: str = ""

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
        """Whether its prices are those of a Region, and none is an estimate."""
        return all(price.region == region and not price.estimate for price in self.prices)

    @property
    def bought(self) -> float | None:
        """USD that are paid for a Capacity Block when it is bought, whatever runs; ``None`` where it is none, or its
        length is not known."""
        if not self.block or self.usd is None:
            return None
        return self.at_most * self.block

    @property
    def lasting(self) -> float | None:
        """USD an hour of what is bought beforehand for a time that the spec does not say; ``None`` where that is
        nothing."""
        if self.block != 0 or self.usd is None:
            return None
        return self.at_most

    @property
    def bought_as(self) -> str:
        """What it is that is bought beforehand."""
        return self.how.partition(":")[0]


def beforehand(bought: float, lasting: float) -> str:
    """What is paid whatever runs, of sums of ``bought`` and ``lasting``; empty where that is nothing."""
    parts = []
    if bought:
        parts.append(f"${bought:,.0f} for Capacity Blocks whatever runs")
    if lasting:
        parts.append(f"${lasting:,.2f} an hour of nodes bought beforehand, whatever runs")
    return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Total:
    """USD an hour that is always paid and at most, and whether all prices are of the Region; what has none is left
    out."""

    always: float
    at_most: float
    exact: bool


def total_costs(items: Iterable[Item], region: str) -> Total:
    """The sums over all that has a price."""
    always = 0.0
    at_most = 0.0
    exact = True
    for item in items:
        always += item.always
        at_most += item.at_most
        exact = exact and item.is_exact(region)
    return Total(always, at_most, exact)


def node_price(planned: PlannedCluster, names: list[str]) -> Price | None:
    """An hour on demand of the dearest of several types, known only where all of them are."""
    region = planned.spec.region
    return dearest(on_demand_or_like(planned.catalog, name, region) for name in names)


# --- nodes


def pool_item(planned: PlannedCluster, pool: spec_pools.NodePool) -> Item:
    """The nodes of a pool, as they are bought."""
    ways = [in_words(way) for way in pool.capacity_types]
    if ways == [_BLOCK]:
        price = dearest(block(name, planned.spec.region) for name in pool.instance_types)
        hours = _hours(pool)
    else:
        price = node_price(planned, pool.instance_types)
        hours = None
    return Item(
        name=pool.name,
        what=", ".join(pool.instance_types),
        least=_always(pool),
        most=pool.nodes.max,
        usd=usd_of(price),
        how=", then ".join(_WORDS[way] for way in ways),
        prices=prices_known(price),
        block=hours,
        node=True,
        pool=pool.name,
    )


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
    reserved = sum(each.nodes or 0 for one in pool.capacity for each in one.reservations)
    return min(pool.nodes.max, max(pool.nodes.min, reserved))


def unit_item(planned: PlannedCluster, name: str, what: str, count: int, unit: str) -> Item:
    """Some units of a service, which are always paid."""
    price = service(unit, planned.spec.region)
    return Item(
        name=name,
        what=what,
        least=count,
        most=count,
        usd=usd_of(price),
        how=ALWAYS,
        prices=prices_known(price),
    )


# --- volumes and file systems


class Gp3(NamedTuple):
    """A gp3 volume: its size, and IOPS and MiB/s where they are said."""

    size: Quantity
    iops: int | None = None
    throughput: int | None = None


def disk_items(
    planned: PlannedCluster,
    name: str,
    volume: Gp3,
    how: str,
    least: int = 1,
    most: int = 1,
    pool: str = "",
) -> Item:
    """Volumes of one kind: paid by GiB, and for what is faster than every volume is."""
    region = planned.spec.region
    more_iops = max(0, (volume.iops or 0) - BASE_IOPS)
    faster = max(0, (volume.throughput or 0) - BASE_THROUGHPUT)
    parts = [
        (_gib(volume.size), "gp3 GiB month"),
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
        what=f"EBS gp3, {_gib(volume.size)} GiB",
        least=least,
        most=most,
        usd=usd,
        how=how,
        prices=tuple(prices),
        pool=pool,
    )


def storage_items(planned: PlannedCluster, storage: Storage) -> Iterator[Item]:
    """A storage that is paid by its size, whoever made it. What is in a bucket is paid by use, unless the spec says how
    much that is."""
    lustre = storage.fsx_lustre
    if lustre is not None:
        yield _file_system(planned, storage)
        created = storage.created_lustre
        if created is not None and created.metadata is not None and created.metadata.iops:
            yield _unpriced(f"metadata IOPS of {storage.name}", f"{created.metadata.iops} IOPS")
    disk = storage.disk
    if disk is not None:
        jobs = mounting(planned, storage)
        if disk.each == "pod":
            least, most = 0, sum(job.nodes or 1 for job in jobs)
            how = "while its jobs run"
        else:
            least = most = len({job.namespace for job in jobs})
            how = ALWAYS
        kind = Gp3(Quantity.parse(str(disk.size)), disk.iops, disk.throughput)
        yield disk_items(planned, storage.name, kind, how, least, most)
    volume = storage.existing_disk
    if volume is not None:
        yield _unpriced(storage.name, f"EBS volume {volume.id}, whose type is not said")
    if storage.s3 is not None and storage.s3.expected_size is not None:
        yield _objects(planned, storage.name, storage.s3)


def mounting(planned: PlannedCluster, storage: Storage) -> list[Gang]:
    """The jobs that mount a storage."""
    names = {job.name for job in JobsSection.of(planned.spec).jobs if _mounts(job, storage)}
    return [job for job in planned.plan.of(Gang) if job.source_name in names]


def _mounts(job: Job, storage: Storage) -> bool:
    return any(mount.storage == storage.name for mount in job.mounts)


def _file_system(planned: PlannedCluster, storage: Storage) -> Item:
    lustre = storage.fsx_lustre
    assert lustre is not None, "the storage is of FSx for Lustre"
    if lustre.throughput_per_tib is not None:
        speed = f", {lustre.throughput_per_tib} MB/s for each TiB"
    elif lustre.deployment.startswith("PERSISTENT"):
        speed = ", `throughputPerTiB` not said"
    else:
        speed = ""
    gib = _gib(Quantity.parse(str(lustre.size)))
    price = prices_of_lustre(lustre.deployment, lustre.throughput_per_tib, planned.spec.region)
    return Item(
        name=storage.name,
        what=f"FSx for Lustre {lustre.deployment}, {gib:,} GiB{speed}",
        least=1,
        most=1,
        usd=monthly(gib, price),
        how=ALWAYS,
        prices=prices_known(price),
    )


def _objects(planned: PlannedCluster, name: str, s3: S3) -> Item:
    """What a bucket is expected to hold, all of it as it is written: in the class S3 Standard."""
    gib = _gib(Quantity.parse(str(s3.expected_size)))
    classes = [] if s3.create is None else [each.to for each in s3.create.lifecycle.transitions]
    if classes:
        least, how = 0, f"at most: less of what moves to {', '.join(classes)}"
    else:
        least, how = 1, ALWAYS
    price = service("S3 Standard GiB month", planned.spec.region)
    return Item(
        name=name,
        what=f"S3 Standard, {gib:,} GiB expected",
        least=least,
        most=1,
        usd=monthly(gib, price),
        how=how,
        prices=prices_known(price),
    )


def _unpriced(name: str, what: str) -> Item:
    return Item(name=name, what=what, least=1, most=1, usd=None, how=ALWAYS)


def _gib(size: Quantity) -> int:
    return -(-size.value // 1024**3)


def monthly(amount: float, price: Price | None) -> float | None:
    """USD an hour of some units that are paid by the month."""
    return None if price is None else amount * price.usd / MONTH


def usd_of(price: Price | None) -> float | None:
    return None if price is None else price.usd


def prices_known(price: Price | None) -> tuple[Price, ...]:
    return () if price is None else (price,)
