"""Resolves storage: what exists, and what the bootstrap creates."""

from __future__ import annotations

from dataclasses import replace

from trainyard.core.storage import spec as spec_storage
from trainyard.core.storage.lustre import check_file_system
from trainyard.core.storage.plan import MadeBucket, MadeFileSystem
from trainyard.core.storage.spec import StorageSection
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context, unique


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
    unique(context, "storage", names, at)
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
    # Most specs make none.
    from trainyard.core.storage.made import made_bucket, made_file_system

    if lustre is not None:
        return made_file_system(context, storage.spec.name, lustre, storage.place)
    assert bucket is not None
    name = storage.bucket or ""
    return made_bucket(context, storage.spec.name, name, bucket, storage.place)


def _disk_zone(context: Context, storage: Storage) -> str | None:
    disk = storage.spec.disk
    if disk is None:
        return None
    from trainyard.core.storage.disks import disk_zone

    return disk_zone(context, storage.spec.name, disk, storage.place)
