"""Storage: file systems and buckets given by id, as static volumes in each namespace that mounts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from compiler.dataclass import dataclass
from compiler.plan import PlanNode
from compiler.plan.units import Quantity
from compiler.resolve.context import SPEC, Context, unique
from compiler.source import Route
from compiler.subjects.storage import spec as spec_storage
from compiler.subjects.storage.bounds import check_file_systems
from compiler.subjects.storage.lustre import check_file_system
from compiler.subjects.storage.plan import PersistentVolume, VolumeClaim
from compiler.subjects.storage.spec import StorageSection

FSX_DRIVER = "fsx.csi.aws.com"
S3_DRIVER = "s3.csi.aws.com"


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage of the spec."""

    spec: spec_storage.Storage
    at: Route

    @property
    def zone(self) -> str | None:
        """The zone that it lies in, where it has one."""
        return self.spec.fsx_lustre.zone if self.spec.fsx_lustre else None


def resolve(context: Context) -> Iterator[PlanNode]:
    """No object by itself: a volume is made where a job mounts it."""
    context.once(resolve_storage)
    check_file_systems(context)
    yield from ()


def resolve_storage(context: Context) -> dict[str, Storage]:
    """Every storage, by name."""
    at = SPEC / "storage"
    declared = StorageSection.of(context.spec).storage
    unique(context, "storage", (storage.name for storage in declared), at)
    storages = {}
    for index, storage in enumerate(declared):
        here = at / index
        if storage.fsx_lustre is not None:
            place = here / "fsxLustre" / "existing"
            check_file_system(context, storage.fsx_lustre, place)
        storages[storage.name] = Storage(storage, here)
    return storages


def volumes(
    context: Context, storage: Storage, namespace: str
) -> tuple[PersistentVolume, VolumeClaim]:
    """The PersistentVolume and the claim through which a namespace's pods mount a storage."""
    fsx, s3 = storage.spec.fsx_lustre, storage.spec.s3
    name = volume_name(namespace, storage.spec.name)
    # Mountpoint ignores the size; the API wants one.
    size = fsx.size if fsx is not None else Quantity.gib(1024)
    if fsx is not None:
        source = _fsx(context, fsx, name)
    elif s3 is not None:
        source = _s3(context, s3, name)
    existing = storage.at / "fsxLustre" / "existing"
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
        origins={
            "size": existing / "size",
            "zone": existing / "zone",
            "lustre": existing / "version",
        },
    )
    claim = VolumeClaim(
        at=storage.at,
        name=storage.spec.name,
        namespace=namespace,
        volume=name,
        size=size,
    )
    return volume, claim


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
        space, other = owners.setdefault(volume, (namespace, name))
        if (space, other) != (namespace, name):
            context.fault(
                "RES009",
                f"storage `{name}` in namespace `{namespace}` and storage `{other}` in namespace "
                f"`{space}` would have one PersistentVolume, `{volume}`",
                stored[name].at / "name",
                f"rename storage `{name}`, or namespace `{namespace}`",
                source="core/v1 PersistentVolume, which has no namespace",
            )


def volume_name(namespace: str, storage: str) -> str:
    """The name of a namespace's PersistentVolume for a storage."""
    return f"{namespace}-{storage}"


class _Source(NamedTuple):
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
    attributes = {"dnsname": host, "mountname": fsx.mount_name}
    options = ("flock", "noatime")
    return _Source(FSX_DRIVER, f"{fsx.id}--{name}", attributes, options)


def _s3(context: Context, bucket: spec_storage.S3, name: str) -> _Source:
    # awslabs/mountpoint-s3-csi-driver, static provisioning: bucketName in volumeAttributes, options as flags.
    attributes = {"bucketName": bucket.bucket}
    options = [f"region {context.spec.region}", "allow-delete", "allow-other"]
    if bucket.prefix:
        options.append(f"prefix {bucket.prefix.rstrip('/')}/")
    return _Source(S3_DRIVER, f"{bucket.bucket}--{name}", attributes, tuple(options))
