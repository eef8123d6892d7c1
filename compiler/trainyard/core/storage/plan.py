"""Plan items of storage: what the bootstrap creates, and the volumes through which pods mount it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.base import ROOT, PlanItem

LUSTRE_VERSION = "trainyard.dev/lustre-version"
FOLDER = "platform"
FSX_ID, FSX_DNS, FSX_MOUNT = "fsx_id", "fsx_dns", "fsx_mount"
"""The keys of a made file system's ConfigMap, which the bootstrap's script writes and Flux fills in."""


LUSTRE_THROUGHPUT = {
    "SCRATCH_1": (),
    "SCRATCH_2": (),
    "PERSISTENT_1": (12, 40, 50, 100, 200),
    "PERSISTENT_2": (125, 250, 500, 1000),
}
"""MB/s for each TiB that a file system may have, by its deployment (botocore 1.44.5 fsx, PerUnitStorageThroughput)."""
EFA_STEP = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""What the size in GiB of a file system with EFA is a multiple of, by MB/s for each TiB (FSx for Lustre user guide,
increase-storage-capacity)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentVolume(PlanItem):
    """A PersistentVolume for a file system or a disk given by id. ``zone`` pins it by node affinity where it has one.

    ``lustre`` is the version of an FSx for Lustre file system, as an annotation says it: no field of the API does.
    ``file_system`` is that on a disk. ``folder``: where it is written, which a manifest does not say.
    """

    name: str
    driver: str
    handle: str
    size: Quantity
    attributes: Mapping[str, str] = field(default_factory=dict)
    mount_options: tuple[str, ...] = ()
    access_modes: tuple[str, ...] = ("ReadWriteMany",)
    claim_namespace: str = ""
    claim_name: str = ""
    zone: str | None = None
    lustre: str | None = None
    file_system: str = ""
    folder: str = field(default=FOLDER, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeClaim(PlanItem):
    """A PersistentVolumeClaim. ``storage_class`` ``None`` is the cluster's default, and an empty one is none."""

    name: str
    namespace: str
    volume: str
    size: Quantity
    access_modes: tuple[str, ...] = ("ReadWriteMany",)
    storage_class: str | None = ""
    folder: str = field(default=FOLDER, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeClass(PlanItem):
    """A StorageClass. ``binding``: when a volume is made; ``reclaim``: what becomes of it without its claim; ``zones``:
    where one may be, anywhere if there are none."""

    name: str
    driver: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    binding: str = "Immediate"
    reclaim: str = "Delete"
    expansion: bool = False
    zones: tuple[str, ...] = ()
    mount_options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeStorage(PlanItem):
    """A storage that the bootstrap makes, in a CloudFormation stack of its own. No manifest carries it.

    ``name``: of the storage; ``key``: the ARN of the KMS key that encrypts it, if not the service's own; ``tags``: of
    what AWS makes.
    """

    carried: ClassVar[bool] = False

    name: str
    cluster: str
    key: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def stack(self) -> str:
        """The name of its stack, without the cluster's; a file is called so."""
        return f"storage-{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeBucket(MadeStorage):
    """An S3 bucket. ``transitions``: days after the creation of an object, and its storage class from then on.
    ``expiration``: the beginning of the keys of objects that S3 deletes, and after how many days."""

    bucket: str
    partition: str
    versioning: bool = True
    noncurrent_days: int | None = None
    upload_days: int = 7
    transitions: tuple[tuple[int, str], ...] = ()
    expiration: tuple[str, int] | None = None
    uploads: tuple[tuple[str, str], ...] = ()
    """Folders of the repository, and the beginning of their keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeSnapshots(MadeStorage):
    """The snapshots of EBS volumes that stay: every so many ``hours``, the last ``keep`` of each volume."""

    partition: str
    hours: int
    keep: int


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder of a file system that is linked to a place in S3, and the events that are imported and exported."""

    path: str
    s3: str
    imports: tuple[str, ...]
    exports: tuple[str, ...]
    import_on_create: bool
    at: Route = field(default=ROOT, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFileSystem(MadeStorage):
    """An FSx for Lustre file system: ``size`` in GiB, ``throughput`` in MB/s for each TiB, ``backup_time`` and
    ``maintenance`` in UTC. ``vpc`` and ``subnet`` are those of an existing network; ``None``: of the VPC that eksctl
    makes, by its exports and a parameter. ``nodes``: the export of the security group of the nodes that mount it."""

    deployment: str
    size: int
    zone: str
    version: str
    throughput: int | None = None
    disks: bool = False
    drive_cache: str | None = None
    compression: str = "NONE"
    metadata: str | None = None
    iops: int | None = None
    efa: bool = False
    backup_days: int = 0
    backup_time: str | None = None
    maintenance: str | None = None
    vpc: str | None = None
    subnet: str | None = None
    nodes: str
    repositories: tuple[Repository, ...] = ()
