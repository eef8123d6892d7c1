"""Storage, as people write it: facts about what exists."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.choice import one_of
from compiler.spec.section import Section
from compiler.spec.types import (
    Bucket,
    FileSystemId,
    IpAddress,
    LustreVersion,
    MountName,
    Name,
    Prefix,
    Size,
    Zone,
)


class FsxLustre(SpecModel):
    """An FSx for Lustre file system, by id."""

    id: FileSystemId = Field(
        description="The id of the file system.", examples=["fs-0a1b2c3d4e5f60718"]
    )
    address: IpAddress | None = Field(
        None,
        description="The IPv4 address of its first network interface, for a file system in another VPC, where its DNS "
        "name is unknown.",
        examples=["10.1.4.20"],
    )
    mount_name: MountName = Field(
        description="The MountName that FSx gave the file system.",
        examples=["abcdefgh"],
    )
    size: Size = Field(
        description="The storage capacity of the file system.", examples=["4800Gi"]
    )
    version: LustreVersion | None = Field(
        None,
        description="The Lustre version of the file system (FileSystemTypeVersion), in quotes; nodes of AL2023 cannot "
        "mount 2.10.",
        examples=["2.15"],
    )
    deployment: Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = (
        Field(
            "PERSISTENT_2",
            description="The deployment type of the file system.",
            examples=["PERSISTENT_2"],
        )
    )
    throughput_per_tib: int | None = Field(
        None,
        ge=12,
        alias="throughputPerTiB",
        description="The throughput in MB/s for each TiB of capacity (PerUnitStorageThroughput).",
        examples=[250],
    )
    zone: Zone | None = Field(
        None,
        description="The zone of the file system's subnet; unset: not compared with the zones of the pools.",
        examples=["us-west-2a"],
    )


class Lustre(SpecModel):
    """An FSx for Lustre file system."""

    existing: FsxLustre = Field(
        description="Facts about a file system that exists.",
        examples=[
            {
                "id": "fs-0a1b2c3d4e5f60718",
                "mountName": "abcdefgh",
                "size": "4800Gi",
                "version": "2.15",
            }
        ],
    )


class ExistingBucket(SpecModel):
    """An S3 bucket that exists."""

    bucket: Bucket = Field(
        description="The name of the bucket.", examples=["datasets-111122223333"]
    )


class S3(SpecModel):
    """An S3 bucket, mounted by Mountpoint for Amazon S3."""

    existing: ExistingBucket = Field(
        description="Facts about a bucket that exists.",
        examples=[{"bucket": "datasets-111122223333"}],
    )
    prefix: Prefix = Field(
        "",
        description="The beginning of the keys that are mounted; unset: the whole bucket.",
        examples=["runs/"],
    )

    @property
    def bucket(self) -> str:
        """The name of the bucket."""
        return self.existing.bucket


class Storage(SpecModel):
    """A storage of exactly one kind: ``fsxLustre`` or ``s3``."""

    model_config = one_of("fsxLustre", "s3")

    name: Name = Field(
        description="The storage's name, which jobs mount it by.",
        examples=["checkpoints"],
    )
    lustre: Lustre | None = Field(
        None,
        alias="fsxLustre",
        description="An FSx for Lustre file system.",
        examples=[
            {
                "existing": {
                    "id": "fs-0a1b2c3d4e5f60718",
                    "mountName": "abcdefgh",
                    "size": "4800Gi",
                    "version": "2.15",
                }
            }
        ],
    )
    s3: S3 | None = Field(
        None,
        description="An S3 bucket.",
        examples=[{"existing": {"bucket": "datasets-111122223333"}, "prefix": "runs/"}],
    )

    @property
    def fsx_lustre(self) -> FsxLustre | None:
        """The facts about the file system."""
        return self.lustre.existing if self.lustre is not None else None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.fsx_lustre is None) == (self.s3 is None):
            raise fault(
                f"storage `{self.name}` is not exactly one kind",
                "write either `fsxLustre:` or `s3:`",
            )
        return self


class StorageSection(Section):
    """What jobs may mount."""

    storage: list[Storage] = Field(
        [],
        description="The file systems and buckets that jobs may mount; they exist before the cluster does.",
        examples=[
            [
                {
                    "name": "datasets",
                    "s3": {"existing": {"bucket": "datasets-111122223333"}},
                }
            ]
        ],
    )


SECTION = StorageSection
DOCUMENTS = {"TrainingStorage": ("storage", Storage)}
