"""An FSx for Lustre file system that the bootstrap makes."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from trainyard.language.models.aws import (
    DayTime,
    KmsKey,
    LustrePath,
    LustreVersion,
    S3Path,
    WeekTime,
    Zone,
)
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import one_of
from trainyard.language.models.types import Distinct, Name, Size

Event = Literal["NEW", "CHANGED", "DELETED"]


class LustreMetadata(SpecModel):
    """The metadata servers of a file system (FSx API, CreateFileSystemLustreMetadataConfiguration)."""

    mode: Literal["AUTOMATIC", "USER_PROVISIONED"] = Field(
        "AUTOMATIC",
        description="Whether FSx sets the metadata IOPS from the size, or `iops` does.",
        examples=["USER_PROVISIONED"],
    )
    iops: int | None = Field(
        None, description="The metadata IOPS of mode USER_PROVISIONED.", examples=[12000]
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
        [],
        alias="export",
        description="Which changes in the file system are written to S3 by themselves; with `DELETED` an `rm` "
        "deletes the object.",
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
        "NONE", description="How the file system compresses what is written.", examples=["LZ4"]
    )
    metadata: LustreMetadata | None = Field(
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
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
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
