"""Models of the kinds of storage: Lustre that is made, S3, EBS."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from trainyard.language.models.aws import (
    Bucket,
    DayTime,
    GeneralBucket,
    KmsKey,
    LustrePath,
    LustreVersion,
    Prefix,
    S3Path,
    VolumeId,
    WeekTime,
    Zone,
)
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import existing_or_created, one_of
from trainyard.language.models.field import Field
from trainyard.language.models.types import Distinct, Name, RepositoryPath, Size, Whole

Event = Literal["NEW", "CHANGED", "DELETED"]


class LustreMetadata(SpecModel):
    """The metadata servers of a file system (FSx API, CreateFileSystemLustreMetadataConfiguration)."""

    mode: Literal["AUTOMATIC", "USER_PROVISIONED"] = Field(
        "AUTOMATIC",
        description="Whether FSx sets the metadata IOPS from the size, or `iops` does.",
        examples=["USER_PROVISIONED"],
        bound="AUTOMATIC, USER_PROVISIONED; of PERSISTENT_2",
        source="FSx API CreateFileSystemLustreMetadataConfiguration",
        codes=("RES121",),
    )
    iops: int | None = Field(
        None,
        description="The metadata IOPS of mode USER_PROVISIONED.",
        examples=[12000],
        bound="1500, 3000, 6000, a multiple of 12000 up to 192000; of USER_PROVISIONED alone",
        source="FSx API CreateFileSystemLustreMetadataConfiguration",
        codes=("RES123",),
    )


class Backups(SpecModel):
    """The daily backups of a file system."""

    days: int = Field(
        ge=0,
        le=90,
        description="For how many days FSx keeps each daily backup; 0 makes none.",
        examples=[14],
        bound="0 to 90; 0 of scratch, or with links to S3",
        source="FSx API CreateFileSystemLustreConfiguration AutomaticBackupRetentionDays",
        codes=("RES124",),
    )
    at: DayTime | None = Field(
        None,
        description="The time of the daily backup in UTC, in quotes; unset: FSx chooses one.",
        examples=["14:30"],
        bound="`HH:MM`, quoted; of backups that are kept",
        source="FSx API DailyTime",
        codes=("YML009", "RES124"),
    )


class DataRepository(SpecModel):
    """A folder of a file system that is linked to a bucket (FSx API, CreateDataRepositoryAssociation)."""

    model_config = one_of("storage", "s3")

    path: LustrePath = Field(
        description="The folder of the file system that is linked; `/` is all of it.",
        examples=["/datasets"],
        bound="a folder from `/`, in no other one that is linked; eight at most",
        source="FSx API CreateDataRepositoryAssociation FileSystemPath",
        codes=("RES125",),
    )
    storage: Name | None = Field(
        None,
        description="The storage of this spec whose bucket it is linked to, below that storage's prefix.",
        examples=["datasets"],
        bound="a storage of this spec with a bucket",
        source="this language",
        codes=("RES125",),
    )
    s3: S3Path | None = Field(
        None,
        description="The place in S3 that it is linked to, for a bucket that is no storage of this spec.",
        examples=["s3://datasets-111122223333/tokens/"],
        bound="`s3://BUCKET/PREFIX` of a bucket that may be called so, in no other one that is linked",
        source="FSx API CreateDataRepositoryAssociation DataRepositoryPath",
        codes=("RES125",),
    )
    import_events: Annotated[list[Event], Distinct] = Field(
        ["NEW", "CHANGED", "DELETED"],
        alias="import",
        description="Which changes in S3 appear in the file system by themselves.",
        examples=[["NEW", "CHANGED"]],
        bound="NEW, CHANGED, DELETED, each once; at least one of both, without `importOnCreate`",
        source="FSx API EventType",
        codes=("RES125",),
    )
    export_events: Annotated[list[Event], Distinct] = Field(
        [],
        alias="export",
        description="Which changes in the file system are written to S3 by themselves; with `DELETED` an `rm` "
        "deletes the object.",
        examples=[["NEW", "CHANGED"]],
        bound="NEW, CHANGED, DELETED, each once; at least one of both, without `importOnCreate`",
        source="FSx API EventType",
        codes=("RES125",),
    )
    import_on_create: bool = Field(
        True,
        description="Whether what is in S3 already is listed in the file system once the link is made.",
        examples=[False],
        bound="`true` or `false`",
        source="FSx API CreateDataRepositoryAssociation BatchImportMetaDataOnCreate",
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
        bound="steps of the deployment, wider ones with EFA; holds the checkpoints",
        source="FSx API CreateFileSystem StorageCapacity; FSx for Lustre user guide, increase-storage-capacity",
        codes=("RES022", "RES046", "RES122"),
    )
    deployment: Literal["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = Field(
        "PERSISTENT_2",
        description="The deployment type: scratch has no replicas, PERSISTENT_2 is the fastest.",
        examples=["SCRATCH_2"],
        bound="SCRATCH_2, PERSISTENT_1, PERSISTENT_2",
        source="FSx API LustreDeploymentType",
    )
    throughput_per_tib: int | None = Field(
        None,
        ge=12,
        alias="throughputPerTiB",
        description="The throughput in MB/s for each TiB of capacity, which persistent ones need; 12 and 40 are disks "
        "(HDD).",
        examples=[250],
        bound="steps of the deployment; needed by persistent ones, refused by scratch",
        source="FSx API PerUnitStorageThroughput",
        codes=("RES023", "RES120"),
    )
    version: LustreVersion = Field(
        "2.15",
        description="The Lustre version of the file system (FileSystemTypeVersion), in quotes.",
        examples=["2.15"],
        bound="2.10, 2.12, 2.15; not 2.10 of PERSISTENT_2, with links or with AL2023; 2.15 with metadata or EFA",
        source="FSx API FileSystemTypeVersion",
        codes=("RES121", "RES125", "RUN033", "RES346"),
    )
    zone: Zone | None = Field(
        None,
        description="The zone of the file system's subnet; derived: that of the pools, where they are in one.",
        examples=["us-west-2a"],
        bound="a zone of the Region with a private subnet; the one of the pools whose jobs mount it",
        source="FSx API SubnetIds; FSx for Lustre user guide, accessing",
        codes=("RES004", "RES128", "PLC015"),
    )
    compression: Literal["NONE", "LZ4"] = Field(
        "NONE",
        description="How the file system compresses what is written.",
        examples=["LZ4"],
        bound="NONE, LZ4",
        source="FSx API DataCompressionType",
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
        bound="`true` or `false`; `true` of PERSISTENT_2 with Lustre 2.15",
        source="FSx API CreateFileSystemLustreConfiguration EfaEnabled; FSx for Lustre user guide, "
        "efa-file-systems",
        codes=("RES121", "RES122"),
    )
    drive_cache: Literal["NONE", "READ"] | None = Field(
        None,
        description="The SSD cache of a file system of disks (HDD), which needs it said.",
        examples=["READ"],
        bound="NONE, READ; needed by disks, refused by others",
        source="FSx API CreateFileSystemLustreConfiguration DriveCacheType",
        codes=("RES121",),
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts it; unset: that of FSx in the account.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
        bound="the ARN of a key of the Region; not of scratch",
        source="FSx API CreateFileSystem KmsKeyId; KMS developer guide, key ARN",
        codes=("RES121",),
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
        bound="`D:HH:MM`, quoted, D from 1 (Monday) to 7",
        source="FSx API WeeklyTime",
        codes=("YML009",),
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


_LARGEST_GIB = 65536


class Snapshots(SpecModel):
    """The snapshots of a volume that Amazon Data Lifecycle Manager takes."""

    every_hours: Annotated[Literal[1, 2, 3, 4, 6, 8, 12, 24], Whole] = Field(
        24,
        description="How many hours lie between two snapshots.",
        examples=[12],
        bound="1, 2, 3, 4, 6, 8, 12, 24; of `namespace` alone",
        source="DLM API CreateRule Interval",
        codes=("RES183",),
    )
    keep: int = Field(
        7,
        ge=1,
        le=1000,
        description="How many snapshots of a volume are kept; an older one is deleted when a newer one is complete.",
        examples=[14],
        bound="1 to 1000",
        source="DLM API RetainRule Count",
    )


class CreatedDisk(SpecModel):
    """Volumes of type gp3 that the driver makes where a pod is placed."""

    each: Literal["pod", "namespace"] = Field(
        description="For whom a volume is: each `pod`, with which it goes, or each `namespace`, for jobs of one node, "
        "where it stays.",
        examples=["pod"],
        bound="pod, namespace; a gang takes `pod`",
        source="EBS user guide, ebs-attaching-volume",
        codes=("RES181",),
    )
    size: Size = Field(
        description="The size of each volume.",
        examples=["500Gi"],
        bound="whole GiB, 1 to 65536",
        source="EC2 API CreateVolume Size (botocore 1.44.5)",
        codes=("RES180",),
    )
    iops: int | None = Field(
        None,
        description="The IOPS of each volume; unset: 3000.",
        examples=[16000],
        bound="3000 to 80000, 500 for each GiB",
        source="EC2 API CreateVolume Iops (botocore 1.44.5); EBS user guide, general-purpose",
        codes=("RES180",),
    )
    throughput: int | None = Field(
        None,
        description="The throughput of each volume in MiB/s; unset: 125.",
        examples=[1000],
        bound="125 to 2000, 0.25 for each IOPS",
        source="EC2 API CreateVolume Throughput (botocore 1.44.5); EBS user guide, general-purpose",
        codes=("RES180",),
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts it; unset: that of EBS in the account.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
        bound="the ARN of a key of the Region",
        source="KMS developer guide, key ARN",
        codes=("RES121",),
    )
    file_system: Literal["ext4", "xfs"] = Field(
        "ext4",
        description="The file system that is made on a new volume.",
        examples=["xfs"],
        bound="ext4, xfs",
        source="aws-ebs-csi-driver v1.63.1, docs/parameters.md",
    )
    zone: Zone | None = Field(
        None,
        description="The zone of a volume that stays; derived: that of the pools, where they are in one.",
        examples=["us-west-2a"],
        bound="a zone of the Region, that of the pools whose jobs mount it; of `namespace` alone",
        source="EBS user guide, ebs-volumes",
        codes=("RES004", "RES182", "RES183"),
    )
    snapshots: Snapshots | None = Field(
        None,
        description="Snapshots of a volume that stays; unset: none.",
        examples=[{"everyHours": 12, "keep": 14}],
    )


class ExistingDisk(SpecModel):
    """An EBS volume, by id: jobs of one node and of one namespace mount it."""

    id: VolumeId = Field(
        description="The id of the volume.",
        examples=["vol-0a1b2c3d4e5f60718"],
        bound="`vol-` and 8 or 17 hex digits; of one storage, and of jobs of one node and one namespace",
        source="EC2 API Volume; core/v1 CSIPersistentVolumeSource, v1.35",
        codes=("RES177", "RES181"),
    )
    zone: Zone = Field(
        description="The zone of the volume, in which its jobs run.",
        examples=["us-west-2a"],
        bound="a zone of the Region, that of the pools whose jobs mount it",
        source="EBS user guide, ebs-volumes",
        codes=("RES004", "RES182"),
    )
    size: Size = Field(
        description="The size of the volume.",
        examples=["200Gi"],
        bound="a size above 0, 65536Gi at most",
        source="core/v1 PersistentVolume capacity; EC2 API, Volume Size",
        codes=("SPC005",),
    )
    file_system: Literal["ext4", "xfs"] = Field(
        "ext4",
        description="The file system on the volume; the driver makes it on a volume that has none.",
        examples=["xfs"],
        bound="ext4, xfs",
        source="aws-ebs-csi-driver v1.63.1, docs/parameters.md",
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts it, which the driver may use then; unset: that of EBS in the account, "
        "or none.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
        bound="the ARN of a key of the Region",
        source="KMS developer guide, key ARN",
        codes=("RES121",),
    )

    @model_validator(mode="after")
    def _has_a_size(self) -> Self:
        if self.size.value > _LARGEST_GIB * 1024**3:
            raise fault(
                f"`{self.size}` is more than an EBS volume has, at most {_LARGEST_GIB}Gi",
                "write the Size that `aws ec2 describe-volumes` shows, which is in GiB",
                "size",
                source="EC2 API, Volume Size (botocore 1.44.5)",
            )
        return self


class Ebs(SpecModel):
    """EBS volumes: one that is there, or those to ``create``."""

    model_config = one_of("existing", "create")

    existing: ExistingDisk | None = Field(
        None,
        description="Facts about a volume that exists.",
        examples=[{"id": "vol-0a1b2c3d4e5f60718", "zone": "us-west-2a", "size": "200Gi"}],
    )
    create: CreatedDisk | None = Field(
        None,
        description="Volumes that the driver makes when a job needs them.",
        examples=[{"each": "pod", "size": "500Gi", "throughput": 500}],
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        existing_or_created(self.existing, self.create, "volume")
        return self


StorageClass = Literal[
    "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"
]


class ExistingBucket(SpecModel):
    """An S3 bucket that exists."""

    bucket: Bucket = Field(
        description="The name of the bucket.",
        examples=["datasets-111122223333"],
        bound="3 to 63 lowercase letters, digits, `.`, `-`; no two dots, no IP address, no prefix or suffix "
        "that S3 keeps",
        source="S3 user guide, bucketnamingrules",
    )
    read_only: bool = Field(
        False,
        description="Whether jobs and nodes only read it: they get no right to write.",
        examples=[True],
        bound="`true`, `false`; mounts say `readOnly: true` too, and no file system exports to it",
        source="Mountpoint for Amazon S3 1.22, doc/CONFIGURATION.md",
        codes=("RES425",),
    )


# S3 API, Days and NoncurrentDays: integers of 32 bits (botocore 1.44.5).
MOST_DAYS = 2**31 - 1


class Transition(SpecModel):
    """When objects move to another storage class."""

    days: int = Field(
        ge=0,
        le=MOST_DAYS,
        description="How many days after it was written an object moves.",
        examples=[30],
        bound="0 to 2147483647, 30 for STANDARD_IA and ONEZONE_IA, more than of the one before",
        source="S3 user guide, lifecycle-transition-general-considerations",
        codes=("RES127",),
    )
    to: StorageClass = Field(
        description="The storage class that it moves to.",
        examples=["INTELLIGENT_TIERING"],
        bound="a storage class that comes after the one before; one that jobs can read, for 90 days",
        source="S3 user guide, lifecycle-transition-general-considerations",
        codes=("RES127", "RES282"),
    )


class Lifecycle(SpecModel):
    """What S3 does with objects by itself. No rule here deletes an object that is current."""

    noncurrent_days: int | None = Field(
        None,
        ge=1,
        le=MOST_DAYS,
        description="For how many days S3 keeps what was overwritten or deleted; derived: 30 where versions are kept.",
        examples=[90],
        bound="1 to 2147483647; of a bucket that keeps versions",
        source="S3 API NoncurrentVersionExpiration",
        codes=("RES127",),
    )
    incomplete_upload_days: int = Field(
        7,
        ge=1,
        le=MOST_DAYS,
        description="After how many days S3 drops the parts of an upload that never ended.",
        examples=[2],
        bound="1 to 2147483647",
        source="S3 API AbortIncompleteMultipartUpload",
    )
    transitions: list[Transition] = Field(
        [],
        description="To which storage class objects move, and when.",
        examples=[[{"days": 30, "to": "INTELLIGENT_TIERING"}]],
    )


class Upload(SpecModel):
    """A folder of this repository that jobs find in a bucket."""

    folder: RepositoryPath = Field(
        description="The folder, from the root of the repository.",
        examples=["specs/workshop/code"],
        bound="a folder inside the repository",
        source="kustomize.toolkit.fluxcd.io/v1 Kustomization path",
        codes=("RES504",),
    )
    to: RepositoryPath = Field(
        description="The beginning of the keys in the bucket.",
        examples=["code"],
        bound="a path without `..`, without `/` at its beginning",
        source="S3 user guide, object-keys",
    )


class CreatedBucket(SpecModel):
    """An S3 bucket that the bootstrap makes, and nothing ever deletes by itself."""

    bucket: GeneralBucket | None = Field(
        None,
        description="The name of the bucket; derived: cluster, storage, account and Region, joined by `-`.",
        examples=["datasets-111122223333-us-west-2"],
        bound="as of `existing`; 63 characters also where it is derived; of one storage",
        source="S3 user guide, bucketnamingrules",
        codes=("RES126",),
    )
    versioning: bool = Field(
        True,
        description="Whether S3 keeps what is overwritten or deleted, until the lifecycle ends it.",
        examples=[False],
        bound="`true` or `false`",
        source="S3 user guide, Versioning",
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts its objects; unset: keys of S3 (SSE-S3).",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
        bound="the ARN of a key of the Region",
        source="KMS developer guide, key ARN",
        codes=("RES121",),
    )
    lifecycle: Lifecycle = Field(
        Lifecycle.model_construct(),
        description="What S3 does with objects by itself.",
        examples=[{"transitions": [{"days": 30, "to": "INTELLIGENT_TIERING"}]}],
    )
    upload: list[Upload] = Field(
        [],
        description="Folders of this repository that `up.sh` uploads; it deletes nothing there.",
        examples=[[{"folder": "code", "to": "code"}]],
    )


class BucketCache(SpecModel):
    """What Mountpoint keeps on a node of the objects that were read: one cache for all pods of a node that share it."""

    size: Size = Field(
        description="How much of it a node keeps.",
        examples=["1Ti"],
        bound="a quantity of bytes",
        source="awslabs/mountpoint-s3-csi-driver v2.7.0, docs/CACHING.md",
    )
    storage: Name | None = Field(
        None,
        description="The storage `ebs` with `each: pod` whose volumes hold it; unset: the node's own disks.",
        examples=["scratch"],
        bound="a storage `ebs` with `each: pod`",
        source="awslabs/mountpoint-s3-csi-driver v2.7.0, docs/CACHING.md",
        codes=("RES012", "RES184"),
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
        examples=[{"lifecycle": {"transitions": [{"days": 30, "to": "INTELLIGENT_TIERING"}]}}],
    )
    prefix: Prefix = Field(
        "",
        description="The beginning of the keys that are mounted; unset: the whole bucket.",
        examples=["runs/"],
        bound="a key's beginning of 1024 bytes at most; no bucket in it, no `/` first, no empty part, `.` or "
        "`..`",
        source="awslabs/mountpoint-s3 58817ca doc/SEMANTICS.md; S3 user guide, object-keys",
    )
    expected_size: Size | None = Field(
        None,
        description="How much is expected below the prefix, for the costs of the report; unset: not counted.",
        examples=["20Ti"],
        bound="a quantity of bytes",
        source="an assumption of the report",
    )
    cache: BucketCache | None = Field(
        None,
        description="A cache on each node of what is read again; unset: none.",
        examples=[{"size": "1Ti"}],
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        existing_or_created(self.existing, self.create, "bucket")
        return self
