"""EBS volumes: one that exists, or those that the EBS CSI driver makes, for each pod or for each namespace."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from trainyard.language.models.aws import KmsKey, VolumeId, Zone
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import existing_or_created, one_of
from trainyard.language.models.types import Size, Whole

_LARGEST_GIB = 65536


class Snapshots(SpecModel):
    """The snapshots of a volume that Amazon Data Lifecycle Manager takes."""

    every_hours: Annotated[Literal[1, 2, 3, 4, 6, 8, 12, 24], Whole] = Field(
        24, description="How many hours lie between two snapshots.", examples=[12]
    )
    keep: int = Field(
        7,
        ge=1,
        le=1000,
        description="How many snapshots of a volume are kept; an older one is deleted when a newer one is complete.",
        examples=[14],
    )


class CreatedDisk(SpecModel):
    """Volumes of type gp3 that the driver makes where a pod is placed."""

    each: Literal["pod", "namespace"] = Field(
        description="For whom a volume is: each `pod`, with which it goes, or each `namespace`, for jobs of one node, "
        "where it stays.",
        examples=["pod"],
    )
    size: Size = Field(description="The size of each volume.", examples=["500Gi"])
    iops: int | None = Field(
        None, description="The IOPS of each volume; unset: 3000.", examples=[16000]
    )
    throughput: int | None = Field(
        None, description="The throughput of each volume in MiB/s; unset: 125.", examples=[1000]
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts it; unset: that of EBS in the account.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
    )
    file_system: Literal["ext4", "xfs"] = Field(
        "ext4", description="The file system that is made on a new volume.", examples=["xfs"]
    )
    zone: Zone | None = Field(
        None,
        description="The zone of a volume that stays; derived: that of the pools, where they are in one.",
        examples=["us-west-2a"],
    )
    snapshots: Snapshots | None = Field(
        None,
        description="Snapshots of a volume that stays; unset: none.",
        examples=[{"everyHours": 12, "keep": 14}],
    )


class ExistingDisk(SpecModel):
    """An EBS volume, by id: jobs of one node and of one namespace mount it."""

    id: VolumeId = Field(description="The id of the volume.", examples=["vol-0a1b2c3d4e5f60718"])
    zone: Zone = Field(
        description="The zone of the volume, in which its jobs run.", examples=["us-west-2a"]
    )
    size: Size = Field(description="The size of the volume.", examples=["200Gi"])
    file_system: Literal["ext4", "xfs"] = Field(
        "ext4",
        description="The file system on the volume; the driver makes it on a volume that has none.",
        examples=["xfs"],
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts it, which the driver may use then; unset: that of EBS in the account, "
        "or none.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
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
