"""An S3 bucket: one that exists, or one that the bootstrap makes."""

from typing import Literal, Self

from pydantic import Field, model_validator

from trainyard.language.models.aws import Bucket, GeneralBucket, KmsKey, Prefix
from trainyard.language.models.base import SpecModel
from trainyard.language.models.choice import existing_or_created, one_of
from trainyard.language.models.types import Name, RepositoryPath, Size

StorageClass = Literal[
    "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"
]


class ExistingBucket(SpecModel):
    """An S3 bucket that exists."""

    bucket: Bucket = Field(
        description="The name of the bucket.", examples=["datasets-111122223333"]
    )
    read_only: bool = Field(
        False,
        description="Whether jobs and nodes only read it: they get no right to write.",
        examples=[True],
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
    )
    to: StorageClass = Field(
        description="The storage class that it moves to.", examples=["INTELLIGENT_TIERING"]
    )


class Lifecycle(SpecModel):
    """What S3 does with objects by itself. No rule here deletes an object that is current."""

    noncurrent_days: int | None = Field(
        None,
        ge=1,
        le=MOST_DAYS,
        description="For how many days S3 keeps what was overwritten or deleted; derived: 30 where versions are kept.",
        examples=[90],
    )
    incomplete_upload_days: int = Field(
        7,
        ge=1,
        le=MOST_DAYS,
        description="After how many days S3 drops the parts of an upload that never ended.",
        examples=[2],
    )
    transitions: list[Transition] = Field(
        [],
        description="To which storage class objects move, and when.",
        examples=[[{"days": 30, "to": "INTELLIGENT_TIERING"}]],
    )


class Upload(SpecModel):
    """A folder of this repository that jobs find in a bucket."""

    folder: RepositoryPath = Field(
        description="The folder, from the root of the repository.", examples=["specs/workshop/code"]
    )
    to: RepositoryPath = Field(
        description="The beginning of the keys in the bucket.", examples=["code"]
    )


class CreatedBucket(SpecModel):
    """An S3 bucket that the bootstrap makes, and nothing ever deletes by itself."""

    bucket: GeneralBucket | None = Field(
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
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
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

    size: Size = Field(description="How much of it a node keeps.", examples=["1Ti"])
    storage: Name | None = Field(
        None,
        description="The storage `ebs` with `each: pod` whose volumes hold it; unset: the node's own disks.",
        examples=["scratch"],
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
    )
    expected_size: Size | None = Field(
        None,
        description="How much is expected below the prefix, for the costs of the report; unset: not counted.",
        examples=["20Ti"],
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
