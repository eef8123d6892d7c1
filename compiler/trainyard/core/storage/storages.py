"""Resolves storage: what exists, and what the bootstrap creates."""

from __future__ import annotations

from dataclasses import replace

from trainyard.core.network.zones import in_region
from trainyard.core.pools.pools import resolve_pools
from trainyard.core.storage import spec as spec_storage
from trainyard.core.storage.kinds import CreatedDisk, CreatedLustre
from trainyard.core.storage.made import made_bucket, made_file_system
from trainyard.core.storage.plan import LUSTRE_THROUGHPUT, MadeBucket, MadeFileSystem
from trainyard.core.storage.spec import FsxLustre, StorageSection
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context, unique_names

# The zone of an EBS volume that outlives its pod.


def disk_zone(context: Context, name: str, disk: CreatedDisk, at: Route) -> str | None:
    """The zone of volumes that stay: a volume never leaves its zone. One of a pod is made where the pod is."""
    if disk.each == "pod":
        return None
    if disk.zone is not None:
        return disk.zone
    pools = context.once(resolve_pools).values()
    of_pools: set[str] = set()
    for pool in pools:
        of_pools.update(pool.zones)
    zones = sorted(of_pools)
    if len(zones) != 1:
        help = "add `zone:`"
        if zones:
            help = f"add `zone: {zones[0]}`, that of the jobs that mount it"
        context.fault(
            "RES182",
            f"the zone of the volume is not said, and the pools are in {listed(zones) or 'none'}",
            at,
            help,
            source="EBS user guide, ebs-volumes: a volume is attached in its own zone",
        )
        return None
    context.derive(
        f"storage/{name}",
        "zone",
        zones[0],
        "the one zone of the pools: a volume is attached in its own zone",
        "EBS user guide, ebs-volumes",
    )
    return zones[0]


# FSx for Lustre: which sizes and throughputs a file system can have.
#
# Sources: botocore 1.44.5 fsx (CreateFileSystem StorageCapacity, PerUnitStorageThroughput) and the FSx for Lustre
# guide.

_GIB = 1024**3
_HDD = {12: 6000, 40: 1800}  # MB/s for each TiB of disks: sizes step by so many GiB


@dataclass(frozen=True, slots=True)
class _Steps:
    """Single sizes, and sizes whose multiples are valid too, in GiB."""

    single: tuple[int, ...]
    multiples: tuple[int, ...]


def check_file_system(context: Context, fsx: FsxLustre | CreatedLustre, at: Route) -> None:
    """Report a size or throughput that no file system of this deployment has."""
    if fsx.zone is not None:
        in_region(context, fsx.zone, at / "zone")
    steps = _steps(fsx)
    if not _fits(fsx.size.value, steps):
        nearest = _nearest(fsx.size.value // _GIB, steps)
        sizes = listed((f"{gib}Gi" for gib in nearest), " or ")
        context.fault(
            "RES022",
            f"no {fsx.deployment} file system has a size of `{fsx.size}`",
            at / "size",
            f"write its StorageCapacity: {sizes} are the nearest there are",
        )
    known = LUSTRE_THROUGHPUT[fsx.deployment]
    given = fsx.throughput_per_tib
    if given is not None and given not in known:
        help = "remove it: scratch file systems have a fixed throughput"
        if known:
            help = f"write one of {listed(known)}"
        context.fault(
            "RES023",
            f"no {fsx.deployment} file system has a throughput of {given} MB/s for each TiB",
            at / "throughputPerTiB",
            help,
        )


def _steps(fsx: FsxLustre | CreatedLustre) -> _Steps:
    """The sizes that a file system can have."""
    if fsx.deployment == "SCRATCH_1":
        return _Steps((1200, 2400), (3600,))
    if fsx.deployment == "PERSISTENT_1":
        if fsx.throughput_per_tib in _HDD:
            return _Steps((), (_HDD[fsx.throughput_per_tib],))
        if fsx.throughput_per_tib is None:  # disks or SSD: not said
            return _Steps((1200,), (2400, *_HDD.values()))
    return _Steps((1200,), (2400,))


def _fits(size: int, steps: _Steps) -> bool:
    gib, rest = divmod(size, _GIB)
    if rest or gib <= 0:
        return False
    if gib in steps.single:
        return True
    return any(gib % step == 0 for step in steps.multiples)


def _nearest(gib: int, steps: _Steps) -> list[int]:
    """The largest size below, if there is one, and the smallest above."""
    sizes = set(steps.single)
    for step in steps.multiples:
        below = gib // step * step
        sizes.update({below, below + step})
    sizes.discard(0)
    nearest = []
    smaller = [size for size in sizes if size <= gib]
    if smaller:
        nearest.append(max(smaller))
    return [*nearest, min(size for size in sizes if size > gib)]


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage of the spec; ``made``: what the bootstrap makes of it; ``bucket``: the name of its bucket."""

    spec: spec_storage.Storage
    at: Route
    made: MadeBucket | MadeFileSystem | None = None
    bucket: str | None = None
    disk_zone: str | None = None

    @property
    def zone(self) -> str | None:
        """The zone that it lies in, where it has one."""
        if isinstance(self.made, MadeFileSystem):
            return self.made.zone or None
        if self.spec.disk is not None:
            return self.disk_zone
        if self.spec.existing_disk is not None:
            return self.spec.existing_disk.zone
        if self.spec.fsx_lustre:
            return self.spec.fsx_lustre.zone
        return None

    @property
    def read_only(self) -> bool:
        """Whether it is a bucket that is only read."""
        existing = self.spec.s3.existing if self.spec.s3 is not None else None
        return existing is not None and existing.read_only

    @property
    def late(self) -> bool:
        """Whether it has an id only once it is made, so that its volumes wait for that."""
        return self.spec.created_lustre is not None

    @property
    def stays(self) -> bool:
        """Whether it is an EBS volume that outlives the pods that mount it."""
        disk = self.spec.disk
        return disk is not None and disk.each == "namespace"

    @property
    def place(self) -> Route:
        """Where the spec says what it is."""
        if self.spec.disk is not None:
            return self.at / "ebs" / "create"
        if self.spec.existing_disk is not None:
            return self.at / "ebs" / "existing"
        if self.spec.lustre is not None:
            kind = "fsxLustre"
        else:
            kind = "s3"
        is_made = self.spec.created_lustre or self.spec.created_bucket
        return self.at / kind / ("create" if is_made else "existing")


def resolve_storage(context: Context) -> dict[str, Storage]:
    """Every storage, by name."""
    at = SPEC / "storage"
    declared = StorageSection.of(context.spec).storage
    names = (storage.name for storage in declared)
    unique_names(context, "storage", names, at)
    storages = {}
    for index, item in enumerate(declared):
        here = at / index
        bucket = item.bucket(context.name, context.spec.account, context.spec.region)
        storage = Storage(item, here, bucket=bucket)
        if item.fsx_lustre is not None:
            check_file_system(context, item.fsx_lustre, storage.place)
        made = _made(context, storage)
        zone = _disk_zone(context, storage)
        storages[item.name] = replace(storage, made=made, disk_zone=zone)
    return storages


def _made(context: Context, storage: Storage) -> MadeBucket | MadeFileSystem | None:
    lustre = storage.spec.created_lustre
    bucket = storage.spec.created_bucket
    if lustre is None and bucket is None:
        return None

    if lustre is not None:
        return made_file_system(context, storage.spec.name, lustre, storage.place)
    assert bucket is not None
    name = storage.bucket or ""
    return made_bucket(context, storage.spec.name, name, bucket, storage.place)


def _disk_zone(context: Context, storage: Storage) -> str | None:
    disk = storage.spec.disk
    if disk is None:
        return None
    from trainyard.core.storage.storages import disk_zone

    return disk_zone(context, storage.spec.name, disk, storage.place)
