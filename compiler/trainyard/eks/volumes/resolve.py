"""Resolves storage: what the bootstrap creates, and static volumes in each namespace that mounts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.core.storage import spec as spec_storage
from trainyard.core.storage.bounds import check_file_systems
from trainyard.core.storage.kinds import BucketCache
from trainyard.core.storage.plan import (
    FOLDER,
    FSX_DNS,
    FSX_ID,
    FSX_MOUNT,
    PersistentVolume,
    VolumeClaim,
)
from trainyard.core.storage.storages import Storage, resolve_storage
from trainyard.eks.volumes.disks import (
    check_cache,
    check_existing,
    disk_claim,
    disk_nodes,
    disk_volume,
)
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

FSX_DRIVER = "fsx.csi.aws.com"
S3_DRIVER = "s3.csi.aws.com"


def resolve(context: Context) -> Iterator[PlanItem]:
    """What the bootstrap makes. A volume is made where a job mounts it."""
    storages = context.once(resolve_storage)
    check_file_systems(context)
    for storage in storages.values():
        if storage.made is not None:
            yield storage.made
        if storage.spec.disk is not None:
            yield from disk_nodes(context, storage)
        if storage.spec.existing_disk is not None:
            check_existing(context, storage, storages)
        cache = None
        if storage.spec.s3 is not None:
            cache = storage.spec.s3.cache
        if cache is not None and cache.storage is not None:
            check_cache(context, cache.storage, storages, storage.at)


def volumes(context: Context, storage: Storage, namespace: str) -> tuple[PlanItem, ...]:
    """The PersistentVolume and the claim through which a namespace's pods mount a storage. The EBS CSI driver makes the
    volume of a claim, and both of one that is each pod's own."""
    disk = storage.spec.disk
    if disk is not None:
        if disk.each == "pod":
            return ()
        return (disk_claim(storage, disk, namespace),)
    if storage.spec.existing_disk is not None:
        return disk_volume(storage, storage.spec.existing_disk, namespace)
    fsx = storage.spec.fsx_lustre
    s3 = storage.spec.s3
    name = volume_name(namespace, storage.spec.name)
    # Mountpoint ignores the size; the API requires one.
    if fsx is not None:
        size = fsx.size
    else:
        size = Quantity.gib(1024)
    existing = storage.spec.existing_lustre
    if existing is not None:
        source = _fsx(context, existing, name)
    elif storage.bucket is not None and s3 is not None:
        source = _s3(context, storage, s3.prefix, name)
        if s3.cache is not None:
            source.attributes.update(_cached(s3.cache))
    else:
        source = _made_fsx(name)
    place, folder = (storage.place, made_folder(storage.spec.name) if storage.late else FOLDER)
    volume = PersistentVolume(
        at=storage.at,
        name=name,
        driver=source.driver,
        handle=source.handle,
        attributes=source.attributes,
        mount_options=source.mount_options,
        size=size,
        claim_namespace=namespace,
        claim_name=storage.spec.name,
        zone=storage.zone,
        lustre=fsx.version if fsx else None,
        origins={"size": place / "size", "zone": place / "zone", "lustre": place / "version"},
        folder=folder,
    )
    claim = VolumeClaim(
        at=storage.at,
        name=storage.spec.name,
        namespace=namespace,
        volume=name,
        size=size,
        folder=folder,
    )
    return volume, claim


def made_folder(storage: str) -> str:
    """Where the volumes of a made file system are written: Flux fills its ids into that folder alone."""
    return f"volumes/{storage}"


def check_volumes(
    context: Context, stored: Mapping[str, Storage], mounted: Iterable[tuple[str, str]]
) -> None:
    """Report two volumes of one name: storage `c` in namespace `a-b`, and storage `b-c` in `a`.

    Of two PersistentVolumes with one name Flux would apply the last, and the claim of the other would never be bound.
    The names stay as they are, since a claim cannot be given another volume (core/v1 PersistentVolumeClaim volumeName).
    """
    owners: dict[str, tuple[str, str]] = {}
    for namespace, name in mounted:
        volume = volume_name(namespace, name)
        own = (namespace, name)
        space, other = owners.setdefault(volume, own)
        if (space, other) != (namespace, name):
            context.fault(
                "RES009",
                f"storage `{name}` in namespace `{namespace}` "
                f"and storage `{other}` in namespace "
                f"`{space}` would have one PersistentVolume, `{volume}`",
                stored[name].at / "name",
                f"rename storage `{name}`, or namespace `{namespace}`",
                source="core/v1 PersistentVolume, which has no namespace",
            )


def volume_name(namespace: str, storage: str) -> str:
    """The name of a namespace's PersistentVolume for a storage."""
    return f"{namespace}-{storage}"


@dataclass(frozen=True, slots=True)
class _Source:
    """A volume of a CSI driver (core/v1 CSIPersistentVolumeSource), and how it is mounted."""

    driver: str
    handle: str
    attributes: dict[str, str]
    mount_options: tuple[str, ...]


def _fsx(context: Context, fsx: spec_storage.FsxLustre, name: str) -> _Source:
    # The driver mounts whatever `dnsname` says, an address too: names have none in other VPCs (its issue 357).
    host = fsx.address
    if not host:
        region, suffix = context.spec.region, "amazonaws.com"
        if context.partition == "aws-cn":
            suffix = "amazonaws.com.cn"
        host = f"{fsx.id}.fsx.{region}.{suffix}"
    # kubernetes-sigs/aws-fsx-csi-driver, static provisioning: volumeHandle is unique; dnsname and mountname.
    return _lustre(fsx.id, host, fsx.mount_name, name)


def _made_fsx(name: str) -> _Source:
    """What AWS gives a file system is filled in by Flux (kustomize-controller v1.10, postBuild.substituteFrom)."""
    keys = (FSX_ID, FSX_DNS, FSX_MOUNT)
    id, host, mount_name = (f"${{{key}}}" for key in keys)
    return _lustre(id, host, mount_name, name)


def _lustre(id: str, host: str, mount_name: str, name: str) -> _Source:
    attributes = {"dnsname": host, "mountname": mount_name}
    return _Source(FSX_DRIVER, f"{id}--{name}", attributes, ("flock", "noatime"))


def _cached(cache: BucketCache) -> dict[str, str]:
    """awslabs/mountpoint-s3-csi-driver v2.7.0, docs/CACHING.md: local cache."""
    if cache.storage is None:
        return {"cache": "emptyDir", "cacheEmptyDirSizeLimit": str(cache.size)}
    return {
        "cache": "ephemeral",
        "cacheEphemeralStorageClassName": f"ebs-{cache.storage}",
        "cacheEphemeralStorageResourceRequest": str(cache.size),
    }


def _s3(context: Context, storage: Storage, prefix: str, name: str) -> _Source:
    # awslabs/mountpoint-s3-csi-driver, static provisioning: bucketName in volumeAttributes, options as flags. Files and
    # folders are root's, and others may write by their mode alone (awslabs/mountpoint-s3 58817cab, CONFIGURATION.md).
    attributes = {"bucketName": storage.bucket or ""}
    options = [
        f"region {context.spec.region}",
        "read-only" if storage.read_only else "allow-delete",
        "allow-other",
        "dir-mode 0777",
        "file-mode 0666",
    ]
    if prefix:
        options.append(f"prefix {prefix.rstrip('/')}/")
    return _Source(S3_DRIVER, f"{storage.bucket}--{name}", attributes, tuple(options))
