"""Volumes of a job that are not storage of the spec."""

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.types import MountPath, Name, ObjectName, Path, Size


class ClaimVolume(SpecModel):
    """A PersistentVolumeClaim that exists in the job's namespace."""

    claim_name: ObjectName = Field(description="The name of the claim.", examples=["datasets"])


class ConfigMapVolume(SpecModel):
    """A ConfigMap that exists in the job's namespace."""

    name: ObjectName = Field(description="The name of the ConfigMap.", examples=["tokenizer"])


class SecretVolume(SpecModel):
    """A Secret that exists in the job's namespace."""

    secret_name: ObjectName = Field(description="The name of the Secret.", examples=["wandb"])


class EmptyDirVolume(SpecModel):
    """A folder that is empty when a pod starts, and gone with it."""

    size_limit: Size | None = Field(
        None,
        description="The size above which the pod is evicted; unset: that of the node's disk, or of its memory.",
        examples=["100Gi"],
    )
    medium: Literal["Memory"] | None = Field(
        None,
        description="With `Memory` a tmpfs, which counts as memory of the job; unset: the node's disk.",
        examples=["Memory"],
    )


class NodeLocalVolume(SpecModel):
    """A folder on the NVMe disks of the node, empty when a pod starts, and gone with it."""

    size: Size = Field(description="The size above which the pod is evicted.", examples=["2Ti"])


class HostPathVolume(SpecModel):
    """A path of the node itself."""

    path: Path = Field(description="The path on the node.", examples=["/opt/profiler"])
    type: (
        Literal[
            "DirectoryOrCreate",
            "Directory",
            "FileOrCreate",
            "File",
            "Socket",
            "CharDevice",
            "BlockDevice",
        ]
        | None
    ) = Field(
        None,
        description="What must be at the path; unset: nothing is checked.",
        examples=["Directory"],
    )


_KINDS_OF_VOLUMES = (
    "persistentVolumeClaim",
    "configMap",
    "secret",
    "emptyDir",
    "nodeLocal",
    "hostPath",
)


_ONE_KIND: JsonDict = {"oneOf": [{"required": [kind]} for kind in _KINDS_OF_VOLUMES]}


class JobVolume(SpecModel):
    """A volume of every pod of the job: exactly one kind, at a path."""

    model_config = ConfigDict(json_schema_extra=_ONE_KIND)

    name: Name = Field(description="The name of the volume, unique in the job.", examples=["cache"])
    path: MountPath = Field(
        description="The folder of the container at which it appears.", examples=["/cache"]
    )
    read_only: bool = Field(False, description="Whether the job may only read it.", examples=[True])
    persistent_volume_claim: ClaimVolume | None = Field(
        None,
        description="A claim that exists in the namespace; for storage of this spec there is `mounts`.",
        examples=[{"claimName": "datasets"}],
    )
    config_map: ConfigMapVolume | None = Field(
        None,
        description="A ConfigMap that exists in the namespace, with a file for each key.",
        examples=[{"name": "tokenizer"}],
    )
    secret: SecretVolume | None = Field(
        None,
        description="A Secret that exists in the namespace, with a file for each key.",
        examples=[{"secretName": "wandb"}],
    )
    empty_dir: EmptyDirVolume | None = Field(
        None,
        description="An empty folder on the node's disk or in its memory.",
        examples=[{"sizeLimit": "100Gi"}],
    )
    node_local: NodeLocalVolume | None = Field(
        None,
        description="An empty folder on the node's NVMe disks, in a pool with `localStorage: raid0`.",
        examples=[{"size": "2Ti"}],
    )
    host_path: HostPathVolume | None = Field(
        None,
        description="A path of the node, in a namespace with `podSecurity: privileged` and where policy RUN052 allows "
        "it.",
        examples=[{"path": "/opt/profiler"}],
    )

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        given = self._given()
        if len(given) != 1:
            if given:
                what = f"{listed(given)} are given"
            else:
                what = "of no kind"
            raise fault(
                f"volume `{self.name}`: {what}" if given else f"volume `{self.name}` is {what}",
                f"write exactly one of {listed(_KINDS_OF_VOLUMES)}",
            )
        return self

    def _given(self) -> list[str]:
        fields = type(self).model_fields
        given = []
        for name, field in fields.items():
            key = field.alias or name
            if key in _KINDS_OF_VOLUMES and getattr(self, name) is not None:
                given.append(key)
        return given

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written there: ConfigMaps and Secrets never are (Kubernetes, volumes)."""
        return self.read_only or self.chosen in ("configMap", "secret")

    @property
    def chosen(self) -> str:
        """The one kind, as it is written."""
        return self._given()[0]
