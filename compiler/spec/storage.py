"""Storage that exists already, as people write it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.types import Bucket, FileSystemId, IpAddress, LustreVersion, MountName, Name, Prefix, Size, Zone


class FsxLustre(SpecModel):
    """An FSx for Lustre file system, by id."""

    id: FileSystemId
    address: IpAddress | None = Field(
        None, description="IPv4 address of its first network interface; for one of another VPC, where its name has none"
    )
    mount_name: MountName = Field(description="the file system's MountName, like `abcdefgh`")
    size: Size
    version: LustreVersion | None = Field(
        None, description="its Lustre (`FileSystemTypeVersion`), quoted: AL2023 nodes cannot mount 2.10, which is the "
        "default of the API for all but PERSISTENT_2"
    )
    deployment: Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = "PERSISTENT_2"
    throughput_per_tib: int | None = Field(None, ge=12, alias="throughputPerTiB", description="MB/s for each TiB")
    zone: Zone | None = Field(None, description="the zone of its subnet; unset: not checked against the pools")


class S3(SpecModel):
    """An S3 bucket, mounted by Mountpoint for Amazon S3."""

    bucket: Bucket
    prefix: Prefix = Field("", description="beginning of the keys that are mounted, like `runs/`; empty: all")


class Storage(SpecModel):
    """A storage of exactly one kind."""

    name: Name
    fsx_lustre: FsxLustre | None = None
    s3: S3 | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.fsx_lustre is None) == (self.s3 is None):
            raise fault(f"storage `{self.name}` is not exactly one kind", "write either `fsxLustre:` or `s3:`")
        return self
