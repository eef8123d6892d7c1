"""Shared storage: from what the spec says to what nodes mount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.catalog.ami_families import families
from trainyard.catalog.lustre import OLDEST
from trainyard.core.network.zones import in_region
from trainyard.core.pools.pools import resolve_pools, zones_of_faulty_pools
from trainyard.core.storage.bounds import check_file_systems
from trainyard.core.storage.storages import Storage, resolve_storage
from trainyard.extensions.parallelcluster.settings.spec import AT, ClusterSection
from trainyard.extensions.parallelcluster.shared_storage.plan import (
    BucketAccess,
    SharedFileSystem,
    variable_of,
)
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

MOUNTED = "/fsx"
_LIMITS = "aws-parallelcluster 3.16.1, constants.py"
_MOST_FILE_SYSTEMS, _MOST_VOLUMES, _LONGEST_NAME = 20, 5, 30


def resolve(context: Context) -> Iterator[PlanItem]:
    """What nodes mount, the buckets that they use, and what the bootstrap makes of both."""
    storages = context.once(resolve_storage)
    check_file_systems(context)
    file_systems = [storage for storage in storages.values() if storage.spec.lustre is not None]
    disks = [storage for storage in storages.values() if storage.spec.ebs is not None]
    _check_count(context, file_systems, _MOST_FILE_SYSTEMS, "file systems")
    _check_count(context, disks, _MOST_VOLUMES, "EBS volumes")
    for storage in storages.values():
        if storage.made is not None:
            yield storage.made
        if storage.bucket is not None and storage.spec.s3 is not None:
            yield BucketAccess(
                at=storage.at,
                name=storage.bucket,
                storage=storage.spec.name,
                read_only=storage.read_only,
            )
        else:
            _check_name(context, storage)
            _check_zone(context, storage)
            _check_client(context, storage)
            yield _file_system(context, storage)
    _check_mount_dirs(context, storages)


def _check_mount_dirs(context: Context, storages: Mapping[str, Storage]) -> None:
    """A fault of each folder for a storage that nodes do not mount."""
    mounted = {name: one for name, one in storages.items() if one.spec.s3 is None}
    for name in ClusterSection.of(context.spec).own.mount_dirs:
        context.find("RES422", "storage", name, mounted, AT / "mountDirs" / name)


def _check_count(context: Context, storages: list[Storage], most: int, what: str) -> None:
    if len(storages) > most:
        context.fault(
            "RES306",
            f"the spec has {len(storages)} {what}, and ParallelCluster mounts {most}",
            storages[most].at,
            "remove what no job mounts, or mount it in the program",
            source=_LIMITS,
        )


def _check_name(context: Context, storage: Storage) -> None:
    name = storage.spec.name
    if len(name) > _LONGEST_NAME:
        context.fault(
            "RES306",
            f"the name `{name}` has {len(name)} characters, and shared storage has one of {_LONGEST_NAME} at most",
            storage.at / "name",
            "shorten it",
            source=f"{_LIMITS}, SharedStorageNameValidator",
        )


def _check_client(context: Context, storage: Storage) -> None:
    """A fault of a file system that the nodes' client of Lustre cannot mount, or a warning where it may be one."""
    lustre = storage.spec.fsx_lustre
    family = families().get(_FAMILIES.get(ClusterSection.of(context.spec).own.os, ""))
    if lustre is None or family is None or not family.cannot_mount(lustre.version or OLDEST):
        return
    at = storage.place / "version"
    source = "FSx for Lustre user guide, lustre-client-matrix; ParallelCluster mounts all shared storage on each node"
    if lustre.version is None:
        context.doubt(
            "RES346",
            f"storage `{storage.spec.name}` does not say its version of Lustre, and nodes of {family.title} cannot "
            f"mount {OLDEST}",
            at,
            "write `version:` with what `aws fsx describe-file-systems` says under FileSystemTypeVersion",
            source=source,
        )
    else:
        context.fault(
            "RES346",
            f"storage `{storage.spec.name}` is Lustre `{lustre.version}`, which nodes of {family.title} cannot mount",
            at,
            'raise it, and write `version: "2.15"`',
            source=source,
        )


_FAMILIES = {"alinux2023": "al2023"}
"""By the operating system of a cluster, the family whose client of Lustre it has."""


def _check_zone(context: Context, storage: Storage) -> None:
    """A warning about a storage that is in the zone of no pool."""
    pools = context.once(resolve_pools).values()
    zones = {zone for pool in pools for zone in pool.zones}
    if storage.zone is None or not zones or storage.zone in zones:
        return
    at = storage.place / "zone"
    if storage.spec.ebs is not None:
        in_region(context, storage.zone, at)  # of file systems the core has asked it
    if context.is_faulty("RES004", at) or context.once(zones_of_faulty_pools):
        return
    context.doubt(
        "RES319",
        f"storage `{storage.spec.name}` is in `{storage.zone}`, and the nodes are in {listed(sorted(zones))}",
        at,
        "put it and a pool into one zone",
        source="FSx for Lustre user guide, performance; EC2 on-demand pricing, data transfer",
    )


def _file_system(context: Context, storage: Storage) -> SharedFileSystem:
    name = storage.spec.name
    existing = storage.spec.existing_lustre
    disk = storage.spec.existing_disk
    kind, id, at = "FsxLustre", variable_of(name), storage.place
    if existing is not None:
        id, at = existing.id, storage.place / "id"
    elif disk is not None:
        kind, id, at = "Ebs", disk.id, storage.place / "id"
    mount_dir = mount_dir_of(context, storage)
    given = ClusterSection.of(context.spec).own.mount_dirs.get(name)
    at_dir = AT / "mountDirs" / name if given else storage.at / "name"
    context.settle(
        f"storage/{name}",
        "mountDir",
        given,
        mount_dir,
        "where all nodes mount it; jobs see it where their `mounts` say",
        "aws-parallelcluster 3.16.1, SharedStorage.MountDir",
        at=at_dir,
    )
    return SharedFileSystem(
        at=storage.at,
        name=name,
        mount_dir=mount_dir,
        kind=kind,
        id=id,
        origins={"name": storage.at / "name", "id": at, "mount_dir": at_dir},
    )


def mount_dir_of(context: Context, storage: Storage) -> str:
    """The folder of nodes at which a storage is."""
    name = storage.spec.name
    given = ClusterSection.of(context.spec).own.mount_dirs.get(name, f"{MOUNTED}/{name}")
    return given.rstrip("/")


def mountable(context: Context, storage: Storage, at: Route, job: str) -> bool:
    """Whether a job can mount a storage; a fault for a bucket, which no node mounts."""
    if storage.spec.s3 is None:
        return True
    context.fault(
        "RES307",
        f"job `{job}` mounts storage `{storage.spec.name}`, which is a bucket, and nodes of ParallelCluster mount none",
        at,
        "link the bucket to a file system by `fsxLustre: {create: {dataRepositories: [{path: /data, storage: "
        f"{storage.spec.name}}}]}}}}` and mount that, or read the bucket in the program: nodes may",
        source="aws-parallelcluster 3.16.1, SharedStorageSchema.StorageType",
    )
    return False
