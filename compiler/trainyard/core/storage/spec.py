"""The spec of storage: facts about what exists, or what the bootstrap creates."""

from typing import Literal, Self

from pydantic import model_validator

from trainyard.core.storage.kinds import (
    S3,
    CreatedBucket,
    CreatedDisk,
    CreatedLustre,
    Ebs,
    ExistingDisk,
)
from trainyard.language.models.aws import FileSystemId, IpAddress, LustreVersion, MountName, Zone
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import existing_or_created, one_of
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import Name, Size
from trainyard.language.source.texts import TextKey
from trainyard.plan.naming import LONGEST_BUCKET, OWN_BUCKETS, joined


class FsxLustre(SpecModel):
    """An FSx for Lustre file system, by id."""

    id: FileSystemId = Field(
        description="The id of the file system.",
        examples=["fs-0a1b2c3d4e5f60718"],
        bound="`fs-` and 8 to 17 hex digits",
        source="FSx API FileSystemId",
        codes=("RES044",),
    )
    address: IpAddress | None = Field(
        None,
        description="The IPv4 address of its first network interface, for a file system in another VPC, where its DNS "
        "name is unknown.",
        examples=["10.1.4.20"],
        bound="an IPv4 address that a host can have",
        source="RFC 6890",
    )
    mount_name: MountName = Field(
        description="The MountName that FSx gave the file system.",
        examples=["abcdefgh"],
        bound="1 to 8 letters, digits, `_`, `-`; `fsx` of SCRATCH_1; the same wherever the id is named",
        source="FSx API LustreFileSystemMountName",
        codes=("RES044",),
    )
    size: Size = Field(
        description="The storage capacity of the file system.",
        examples=["4800Gi"],
        bound="steps of the deployment; the same wherever the id is named; holds the checkpoints",
        source="FSx API CreateFileSystem StorageCapacity",
        codes=("RES022", "RES044", "RES046"),
    )
    version: LustreVersion | None = Field(
        None,
        description="The Lustre version of the file system (FileSystemTypeVersion), in quotes; nodes of AL2023 cannot "
        "mount 2.10.",
        examples=["2.15"],
        bound="2.10, 2.12, 2.15; not 2.10 of PERSISTENT_2, or with AL2023",
        source="FSx API FileSystemTypeVersion; FSx for Lustre user guide, client matrix",
        codes=("RES044", "RUN033", "RES346"),
    )
    deployment: Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = Field(
        "PERSISTENT_2",
        description="The deployment type of the file system.",
        examples=["PERSISTENT_2"],
        bound="SCRATCH_1, SCRATCH_2, PERSISTENT_1, PERSISTENT_2",
        source="FSx API LustreDeploymentType",
    )
    throughput_per_tib: int | None = Field(
        None,
        ge=12,
        alias="throughputPerTiB",
        description="The throughput in MB/s for each TiB of capacity (PerUnitStorageThroughput).",
        examples=[250],
        bound="steps of the deployment",
        source="FSx API PerUnitStorageThroughput",
        codes=("RES023",),
    )
    zone: Zone | None = Field(
        None,
        description="The zone of the file system's subnet; unset: not compared with the zones of the pools.",
        examples=["us-west-2a"],
        bound="a zone of the Region; the one of the pools whose jobs mount it",
        source="FSx for Lustre user guide, accessing",
        codes=("RES004", "PLC015"),
    )


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
        examples=[{"size": "4800Gi", "throughputPerTiB": 250, "zone": "us-west-2a"}],
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        existing_or_created(self.existing, self.create, "file system")
        return self


class Storage(SpecModel):
    """A storage of exactly one kind: ``fsxLustre``, ``s3`` or ``ebs``."""

    model_config = one_of("fsxLustre", "s3", "ebs")

    name: Name = Field(
        description="The storage's name, which jobs mount it by.",
        examples=["checkpoints"],
        bound="a label of 63 characters at most, unique; joined to its namespace too; 45 of a file system that "
        "is made",
        source="Kubernetes, object names; core/v1 PersistentVolume; Kubernetes, label values",
        codes=("RES009", "RES129"),
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
    ebs: Ebs | None = Field(
        None,
        description="EBS volumes: one that exists, one for each pod, or one for each namespace.",
        examples=[{"create": {"each": "pod", "size": "500Gi"}}],
    )

    @property
    def disk(self) -> CreatedDisk | None:
        """The EBS volumes that the driver makes."""
        if self.ebs is not None:
            return self.ebs.create
        return None

    @property
    def existing_disk(self) -> ExistingDisk | None:
        """The facts about an EBS volume that exists."""
        if self.ebs is not None:
            return self.ebs.existing
        return None

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
        if existing is not None:
            return existing.id
        return self.name

    @property
    def existing_lustre(self) -> FsxLustre | None:
        """The facts about a file system that exists."""
        if self.lustre is not None:
            return self.lustre.existing
        return None

    @property
    def created_lustre(self) -> CreatedLustre | None:
        """The file system that the bootstrap makes."""
        if self.lustre is not None:
            return self.lustre.create
        return None

    @property
    def created_bucket(self) -> CreatedBucket | None:
        """The bucket that the bootstrap makes."""
        if self.s3 is not None:
            return self.s3.create
        return None

    def bucket(self, cluster: str, account: str, region: str) -> str | None:
        """The name of its bucket, if it is one; a bucket's name is its own in the whole partition (S3 user guide,
        bucketnamingrules), so that one of ours holds what makes it so."""
        if self.s3 is None:
            return None
        if self.s3.existing is not None:
            return self.s3.existing.bucket
        assert self.s3.create is not None
        if self.s3.create.bucket:
            return self.s3.create.bucket
        end = f"-{account}-{region}"
        return joined(cluster, self.name, LONGEST_BUCKET - len(end), OWN_BUCKETS) + end

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [self.lustre, self.s3, self.ebs]
        if kinds.count(None) != len(kinds) - 1:
            raise fault(
                f"storage `{self.name}` is not exactly one kind",
                "write one of `fsxLustre:`, `s3:` and `ebs:`",
            )
        return self


class StorageSection(Section):
    """What jobs may mount."""

    storage: list[Storage] = Field(
        [],
        description="The file systems and buckets that jobs may mount; they exist, or the bootstrap makes them.",
        examples=[[{"name": "datasets", "s3": {"existing": {"bucket": "datasets-111122223333"}}}]],
    )


SECTION = StorageSection
DOCUMENTS = {"TrainingStorage": ("storage", Storage)}


TEXTS = (
    TextKey(
        ("storage", None, "s3", "create", "upload", None, "folder"), lines=False, from_root=True
    ),
)
