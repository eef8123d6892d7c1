"""EBS volumes, which the EBS CSI driver makes: one for each pod, or one for each namespace."""

from typing import Literal

from pydantic import Field

from compiler.spec.base import SpecModel
from compiler.spec.types import KmsKey, Size, Zone


class Snapshots(SpecModel):
    """The snapshots of a volume that Amazon Data Lifecycle Manager takes."""

    every_hours: Literal[1, 2, 3, 4, 6, 8, 12, 24] = Field(
        24,
        description="How many hours lie between two snapshots.",
        examples=[12],
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
        None,
        description="The IOPS of each volume; unset: 3000.",
        examples=[16000],
    )
    throughput: int | None = Field(
        None,
        description="The throughput of each volume in MiB/s; unset: 125.",
        examples=[1000],
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts it; unset: that of EBS in the account.",
        examples=[
            "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
        ],
    )
    file_system: Literal["ext4", "xfs"] = Field(
        "ext4",
        description="The file system that is made on a new volume.",
        examples=["xfs"],
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


class Ebs(SpecModel):
    """EBS volumes."""

    create: CreatedDisk = Field(
        description="Volumes that the driver makes when a job needs them.",
        examples=[{"each": "pod", "size": "500Gi", "throughput": 500}],
    )
