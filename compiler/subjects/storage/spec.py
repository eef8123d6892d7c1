"""Storage, as people write it: facts about what exists, or wishes for what the bootstrap makes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.choice import one_of
from compiler.spec.section import Section
from compiler.spec.types import (
    Bucket,
    DayTime,
    Distinct,
    FileSystemId,
    IpAddress,
    KmsKey,
    LustrePath,
    LustreVersion,
    MountName,
    Name,
    Prefix,
    S3Path,
    Size,
    WeekTime,
    Zone,
)

Event = Literal["NEW", "CHANGED", "DELETED"]
StorageClass = Literal[
    "STANDARD_IA",
    "INTELLIGENT_TIERING",
    "ONEZONE_IA",
    "GLACIER_IR",
    "GLACIER",
    "DEEP_ARCHIVE",
]


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


class Metadata(SpecModel):
    """The metadata servers of a file system (FSx API, CreateFileSystemLustreMetadataConfiguration)."""

    mode: Literal["AUTOMATIC", "USER_PROVISIONED"] = Field(
        "AUTOMATIC",
        description="Whether FSx sets the metadata IOPS from the size, or `iops` does.",
        examples=["USER_PROVISIONED"],
    )
    iops: int | None = Field(
        None,
        description="The metadata IOPS of mode USER_PROVISIONED.",
        examples=[12000],
    )


class Backups(SpecModel):
    """The daily backups of a file system."""

    days: int = Field(
        ge=0,
        le=90,
        description="For how many days FSx keeps each daily backup; 0 makes none.",
        examples=[14],
    )
    at: DayTime | None = Field(
        None,
        description="The time of the daily backup in UTC, in quotes; unset: FSx chooses one.",
        examples=["14:30"],
    )


class DataRepository(SpecModel):
    """A folder of a file system that is linked to a bucket (FSx API, CreateDataRepositoryAssociation)."""

    model_config = one_of("storage", "s3")

    path: LustrePath = Field(
        description="The folder of the file system that is linked; `/` is all of it.",
        examples=["/datasets"],
    )
    storage: Name | None = Field(
        None,
        description="The storage of this spec whose bucket it is linked to, below that storage's prefix.",
        examples=["datasets"],
    )
    s3: S3Path | None = Field(
        None,
        description="The place in S3 that it is linked to, for a bucket that is no storage of this spec.",
        examples=["s3://datasets-111122223333/tokens/"],
    )
    import_events: Annotated[list[Event], Distinct] = Field(
        ["NEW", "CHANGED", "DELETED"],
        alias="import",
        description="Which changes in S3 appear in the file system by themselves.",
        examples=[["NEW", "CHANGED"]],
    )
    export_events: Annotated[list[Event], Distinct] = Field(
        ["NEW", "CHANGED", "DELETED"],
        alias="export",
        description="Which changes in the file system are written to S3 by themselves.",
        examples=[["NEW", "CHANGED"]],
    )
    import_on_create: bool = Field(
        True,
        description="Whether what is in S3 already is listed in the file system once the link is made.",
        examples=[False],
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.storage is None) == (self.s3 is None):
            raise fault(
                f"folder `{self.path}` is not linked to exactly one place in S3",
                "write either `storage:` or `s3:`",
            )
        return self


class CreatedLustre(SpecModel):
    """An FSx for Lustre file system that the bootstrap makes, and nothing ever deletes by itself."""

    size: Size = Field(
        description="The storage capacity of the file system; it can be raised later, never lowered.",
        examples=["4800Gi"],
    )
    deployment: Literal["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = Field(
        "PERSISTENT_2",
        description="The deployment type: scratch has no replicas, PERSISTENT_2 is the fastest.",
        examples=["SCRATCH_2"],
    )
    throughput_per_tib: int | None = Field(
        None,
        ge=12,
        alias="throughputPerTiB",
        description="The throughput in MB/s for each TiB of capacity, which persistent ones need; 12 and 40 are disks "
        "(HDD).",
        examples=[250],
    )
    version: LustreVersion = Field(
        "2.15",
        description="The Lustre version of the file system (FileSystemTypeVersion), in quotes.",
        examples=["2.15"],
    )
    zone: Zone | None = Field(
        None,
        description="The zone of the file system's subnet; derived: that of the pools, where they are in one.",
        examples=["us-west-2a"],
    )
    compression: Literal["NONE", "LZ4"] = Field(
        "NONE",
        description="How the file system compresses what is written.",
        examples=["LZ4"],
    )
    metadata: Metadata | None = Field(
        None,
        description="The metadata servers, of PERSISTENT_2 alone; they can be given only now.",
        examples=[{"mode": "USER_PROVISIONED", "iops": 12000}],
    )
    efa: bool = Field(
        False,
        description="Whether nodes reach it by EFA and GPUDirect Storage (EfaEnabled); it can be given only now.",
        examples=[True],
    )
    drive_cache: Literal["NONE", "READ"] | None = Field(
        None,
        description="The SSD cache of a file system of disks (HDD), which needs it said.",
        examples=["READ"],
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts it; unset: that of FSx in the account.",
        examples=[
            "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
        ],
    )
    backups: Backups | None = Field(
        None,
        description="Daily backups, of persistent file systems without data repositories; unset: none.",
        examples=[{"days": 14}],
    )
    maintenance: WeekTime | None = Field(
        None,
        description="The weekly window of maintenance in UTC, in quotes: the day from 1 (Monday), and the time.",
        examples=["7:04:00"],
    )
    data_repositories: list[DataRepository] = Field(
        [],
        description="The folders that are linked to buckets.",
        examples=[[{"path": "/datasets", "storage": "datasets"}]],
    )

    @property
    def disks(self) -> bool:
        """Whether it is made of disks (HDD), which their throughput says (FSx API, PerUnitStorageThroughput)."""
        return self.deployment == "PERSISTENT_1" and self.throughput_per_tib in (12, 40)


class Lustre(SpecModel):
    """An FSx for Lustre file system: one that is there, or one to ``create``."""

    model_config = one_of("existing", "create")

    existing: FsxLustre | None = Field(
        None,
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
    create: CreatedLustre | None = Field(
        None,
        description="A file system that the bootstrap makes; removing it here never deletes it.",
        examples=[
            {"size": "4800Gi", "throughputPerTiB": 250, "zone": "us-west-2a"},
        ],
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        _exactly_one(self.existing, self.create, "file system")
        return self


class ExistingBucket(SpecModel):
    """An S3 bucket that exists."""

    bucket: Bucket = Field(
        description="The name of the bucket.", examples=["datasets-111122223333"]
    )


class Transition(SpecModel):
    """When objects move to another storage class."""

    days: int = Field(
        ge=0,
        description="How many days after it was written an object moves.",
        examples=[30],
    )
    to: StorageClass = Field(
        description="The storage class that it moves to.",
        examples=["INTELLIGENT_TIERING"],
    )


class Lifecycle(SpecModel):
    """What S3 does with objects by itself. No rule here deletes an object that is current."""

    noncurrent_days: int | None = Field(
        None,
        ge=1,
        description="For how many days S3 keeps what was overwritten or deleted; derived: 30 where versions are kept.",
        examples=[90],
    )
    incomplete_upload_days: int = Field(
        7,
        ge=1,
        description="After how many days S3 drops the parts of an upload that never ended.",
        examples=[2],
    )
    transitions: list[Transition] = Field(
        [],
        description="To which storage class objects move, and when.",
        examples=[[{"days": 30, "to": "INTELLIGENT_TIERING"}]],
    )


class CreatedBucket(SpecModel):
    """An S3 bucket that the bootstrap makes, and nothing ever deletes by itself."""

    bucket: Bucket | None = Field(
        None,
        description="The name of the bucket; derived: cluster, storage, account and Region, joined by `-`.",
        examples=["datasets-111122223333-us-west-2"],
    )
    versioning: bool = Field(
        True,
        description="Whether S3 keeps what is overwritten or deleted, until the lifecycle ends it.",
        examples=[False],
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts its objects; unset: keys of S3 (SSE-S3).",
        examples=[
            "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
        ],
    )
    lifecycle: Lifecycle = Field(
        Lifecycle.model_construct(),
        description="What S3 does with objects by itself.",
        examples=[{"transitions": [{"days": 30, "to": "INTELLIGENT_TIERING"}]}],
    )


class S3(SpecModel):
    """An S3 bucket, mounted by Mountpoint for Amazon S3: one that is there, or one to ``create``."""

    model_config = one_of("existing", "create")

    existing: ExistingBucket | None = Field(
        None,
        description="Facts about a bucket that exists.",
        examples=[{"bucket": "datasets-111122223333"}],
    )
    create: CreatedBucket | None = Field(
        None,
        description="A bucket that the bootstrap makes; removing it here never deletes it.",
        examples=[
            {"lifecycle": {"transitions": [{"days": 30, "to": "INTELLIGENT_TIERING"}]}}
        ],
    )
    prefix: Prefix = Field(
        "",
        description="The beginning of the keys that are mounted; unset: the whole bucket.",
        examples=["runs/"],
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        _exactly_one(self.existing, self.create, "bucket")
        return self


def _exactly_one(existing: object, create: object, what: str) -> None:
    if (existing is None) == (create is None):
        fact = "both `existing` and `create` are given"
        if existing is None:
            fact = "neither `existing` nor `create` is given"
        raise fault(
            fact,
            f"write `existing:` with facts about a {what} that is there, or `create:` for a new one",
        )


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
    def fsx_lustre(self) -> FsxLustre | CreatedLustre | None:
        """What is known of the file system, which exists or is made."""
        if self.lustre is None:
            return None
        return self.lustre.existing or self.lustre.create

    @property
    def file_system(self) -> str:
        """What messages call the file system: the id of one that exists, or the name of a storage that is made."""
        existing = self.existing_lustre
        return existing.id if existing is not None else self.name

    @property
    def existing_lustre(self) -> FsxLustre | None:
        """The facts about a file system that exists."""
        return self.lustre.existing if self.lustre is not None else None

    @property
    def created_lustre(self) -> CreatedLustre | None:
        """The file system that the bootstrap makes."""
        return self.lustre.create if self.lustre is not None else None

    @property
    def created_bucket(self) -> CreatedBucket | None:
        """The bucket that the bootstrap makes."""
        return self.s3.create if self.s3 is not None else None

    def bucket(self, cluster: str, account: str, region: str) -> str | None:
        """The name of its bucket, if it is one; a bucket's name is its own in the whole partition (S3 user guide,
        bucketnamingrules), so that one of ours holds what makes it so."""
        if self.s3 is None:
            return None
        if self.s3.existing is not None:
            return self.s3.existing.bucket
        given = self.s3.create.bucket if self.s3.create is not None else None
        return given or f"{cluster}-{self.name}-{account}-{region}"

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.lustre is None) == (self.s3 is None):
            raise fault(
                f"storage `{self.name}` is not exactly one kind",
                "write either `fsxLustre:` or `s3:`",
            )
        return self


class StorageSection(Section):
    """What jobs may mount."""

    storage: list[Storage] = Field(
        [],
        description="The file systems and buckets that jobs may mount; they exist, or the bootstrap makes them.",
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
