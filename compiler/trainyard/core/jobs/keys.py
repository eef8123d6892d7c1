"""Models of the keys of a job that are mappings of their own."""

from typing import Literal, Self

from pydantic import ConfigDict, model_validator
from pydantic.config import JsonDict

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.models.base import SpecModel
from trainyard.language.models.buckets import is_bucket
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import OneOf
from trainyard.language.models.field import Field
from trainyard.language.models.types import (
    MOST_NODES,
    Command,
    EnvName,
    ImageOrName,
    MountPath,
    Name,
    ObjectName,
    Path,
    Period,
    Size,
    Word,
    WritablePath,
)


class ClaimVolume(SpecModel):
    """A PersistentVolumeClaim that exists in the job's namespace."""

    claim_name: ObjectName = Field(
        description="The name of the claim.",
        examples=["datasets"],
        bound="a DNS subdomain of 253 characters at most; not the claim of a storage of the spec",
        source="Kubernetes, object names; core/v1 PersistentVolumeClaimVolumeSource",
        codes=("RES066",),
    )


class ConfigMapVolume(SpecModel):
    """A ConfigMap that exists in the job's namespace."""

    name: ObjectName = Field(
        description="The name of the ConfigMap.",
        examples=["tokenizer"],
        bound="a DNS subdomain of 253 characters at most",
        source="Kubernetes, object names; core/v1 ConfigMapVolumeSource",
    )


class SecretVolume(SpecModel):
    """A Secret that exists in the job's namespace."""

    secret_name: ObjectName = Field(
        description="The name of the Secret.",
        examples=["wandb"],
        bound="a DNS subdomain of 253 characters at most",
        source="Kubernetes, object names; core/v1 SecretVolumeSource",
    )


class EmptyDirVolume(SpecModel):
    """A folder that is empty when a pod starts, and gone with it."""

    size_limit: Size | None = Field(
        None,
        description="The size above which the pod is evicted; unset: that of the node's disk, or of its memory.",
        examples=["100Gi"],
        bound="with the others what a node's disks leave at most; in memory with `/dev/shm` below the memory "
        "limit",
        source="Kubernetes, local ephemeral storage; emptyDir",
        codes=("RES048", "LIM007"),
    )
    medium: Literal["Memory"] | None = Field(
        None,
        description="With `Memory` a tmpfs, which counts as memory of the job; unset: the node's disk.",
        examples=["Memory"],
        bound="`Memory`",
        source="core/v1 EmptyDirVolumeSource medium",
    )


class NodeLocalVolume(SpecModel):
    """A folder on the NVMe disks of the node, empty when a pod starts, and gone with it."""

    size: Size = Field(
        description="The size above which the pod is evicted.",
        examples=["2Ti"],
        bound="with the others what a node's disks leave at most; in a pool with `localStorage: raid0`",
        source="EC2 DescribeInstanceTypes InstanceStorageInfo; karpenter.k8s.aws/v1 instanceStorePolicy",
        codes=("RES048", "RES060"),
    )


class HostPathVolume(SpecModel):
    """A path of the node itself."""

    path: Path = Field(
        description="The path on the node.",
        examples=["/opt/profiler"],
        bound="an absolute path, in a namespace with `podSecurity: privileged`, that a policy allows",
        source="Kubernetes, Pod Security Standards",
        codes=("RES065", "RUN052"),
    )
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
        bound="`DirectoryOrCreate`, `Directory`, `FileOrCreate`, `File`, `Socket`, `CharDevice`, `BlockDevice`",
        source="core/v1 HostPathVolumeSource type",
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

    name: Name = Field(
        description="The name of the volume, unique in the job.",
        examples=["cache"],
        bound="a label of 63 characters at most, unique in the job; not `dshm`",
        source="core/v1 PodSpec volumes",
        codes=("RES009",),
    )
    path: MountPath = Field(
        description="The folder of the container at which it appears.",
        examples=["/cache"],
        bound="as the path of a mount; each once among mounts, volumes and files",
        source="core/v1 VolumeMount mountPath; runc; Filesystem Hierarchy Standard",
        codes=("RES031", "RUN152"),
    )
    read_only: bool = Field(
        False,
        description="Whether the job may only read it.",
        examples=[True],
        bound="not where checkpoints are saved",
        source="core/v1 VolumeMount readOnly",
        codes=("RES035",),
    )
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


class Role(SpecModel):
    """Pods in addition to the nodes of a JobSet, with the image, the mounts and the resources of the job."""

    name: Name = Field(
        description="The role's name, unique in the job and not `node`.",
        examples=["rollout"],
        bound="a label of 63 characters at most, unique in the job; not `node`; the job is a JobSet",
        source="jobset v0.12.0, pkg/webhooks",
        codes=("RES009", "RES167", "NAM002"),
    )
    nodes: int = Field(
        1,
        ge=1,
        le=MOST_NODES,
        description="The number of its nodes, with one pod on each.",
        examples=[2],
        bound="1 to 5000; with those of the job no more than the pool and the quota have",
        source="Kubernetes, large clusters; Kueue admits all pods or none",
        codes=("LIM003", "QUE005"),
    )
    command: Command = Field(
        min_length=1,
        description="The program and its words, without a shell.",
        examples=[["python", "rollout.py"]],
        bound="a program and its words, no zero byte; no secret; judged like the command of a job",
        source="core/v1 Container command; execve(2)",
        codes=("RUN024", "RUN035", "RUN039", "RUN128"),
    )
    args: list[Word] = Field(
        [],
        description="More words of the command.",
        examples=[["--seed", "1"]],
        bound="any text without a zero byte; no secret; judged like the arguments of a job",
        source="core/v1 Container args; execve(2)",
        codes=("RUN024", "RUN123", "RUN130"),
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the program, in addition to those of the job.",
        examples=[{"ROLE": "rollout"}],
        bound="names of Kubernetes' form; text without a zero byte; no secret",
        source="core/v1 EnvVar",
        codes=("RUN024",),
    )


class Checkpoint(SpecModel):
    """Where and how often the job saves, so that a restart can go on.

    The program reads it from ``CHECKPOINT_DIR``, ``CHECKPOINT_EVERY_SECONDS``, ``CHECKPOINT_KEEP`` and
    ``CHECKPOINT_SIGNAL_FILE``.
    """

    path: Path = Field(
        description="The folder that the program saves to and resumes from, inside a mount; the program reads it from "
        "`CHECKPOINT_DIR`.",
        examples=["/data/fsx/pretrain"],
        bound="an absolute path in a mount that can be written and renames files; in no other job's, and "
        "deleted by none",
        source="Kubernetes, volumes; Mountpoint for Amazon S3, semantics",
        codes=("RES035", "RUN020", "RUN040", "RUN055", "RUN132", "RUN139", "RUN153"),
    )
    every: Period | None = Field(
        None,
        description="The time between two saves, which the program reads from `CHECKPOINT_EVERY_SECONDS`; unset: the "
        "variable is not set.",
        examples=["30m"],
        bound="above 0, below the timeout, longer than a checkpoint takes to write, not far from the best",
        source="FSx for Lustre user guide, ssd-storage; Young 1974, Daly 2006",
        codes=("RES029", "RES046", "RUN053"),
    )
    keep: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="How many checkpoints the program keeps, which it reads from `CHECKPOINT_KEEP`; derived: 10, and "
        "the variable is not set.",
        examples=[3],
        bound="1 to 1000; with one more no larger than the file system",
        source="pytorch/torchtitan b5bcd76c, keep_latest_k",
        codes=("RUN054",),
    )
    asynchronous: bool = Field(
        False,
        alias="async",
        description="Whether training goes on while a checkpoint is written, as with `async_save` of PyTorch.",
        examples=[True],
        bound="`true`, `false`",
        source="torch.distributed.checkpoint, async_save",
    )
    signal_file: WritablePath | None = Field(
        None,
        description="A file that appears in the container when the pod must stop; the program saves and removes it, "
        "then SIGTERM follows, after a minute if nobody saves.",
        examples=["/tmp/save-now"],
        bound="the absolute path of a file of the pod alone, outside of `/proc`, `/sys` and `/dev`, that is "
        "not there from the start",
        source="core/v1 Lifecycle preStop",
        codes=("SPC005", "RES242"),
    )

    @model_validator(mode="after")
    def _names_a_file(self) -> Self:
        if self.signal_file is None:
            return self
        if self.signal_file.endswith(("/", "/.", "/..")) or self.signal_file in _FOLDERS:
            raise fault(
                f"`{self.signal_file}` is a folder, and the signal is a file",
                f"write `{self.signal_file.rstrip('/.')}/save-now`",
                "signalFile",
                source="open(2): EISDIR, a folder cannot be written",
            )
        if self.signal_file.startswith(("/etc/", "/bin/", "/usr/")):
            raise fault(
                f"`{self.signal_file}` is likely there from the start, and the program would save at once",
                "write a path that nothing else uses, like `/tmp/save-now`",
                "signalFile",
                source="Filesystem Hierarchy Standard 3.0",
            )
        return self


# Filesystem Hierarchy Standard 3.0: folders that each image has.
_FOLDERS = frozenset(
    {"/", "/tmp", "/var/tmp", "/dev/shm", "/root", "/home", "/opt", "/run", "/mnt", "/etc", "/usr"}
)


# trainer v2.3.0, pkg/initializers/{dataset,model}/__main__.py; `cache` needs the data cache, which is not installed.
def _is_read(uri: str) -> bool:
    """Whether an initializer reads a place: of Hugging Face a repository of an owner, of S3 a bucket at least."""
    scheme, found, rest = uri.partition("://")
    parts = rest.strip("/").split("/")
    least = {"hf": 2, "s3": 1}.get(scheme)
    if not found or least is None:
        return False
    if scheme == "s3" and not is_bucket(parts[0]):
        return False
    return len(parts) >= least and all(parts)


class Downloaded(SpecModel):
    """Something that Trainer's initializer downloads."""

    storage_uri: Word = Field(
        description="Where it is: a repository of Hugging Face, or a prefix of a bucket.",
        examples=["hf://tatsu-lab/alpaca"],
        bound="`hf://OWNER/NAME` or `s3://BUCKET/PREFIX`; no secret",
        source="trainer v2.3.0, pkg/initializers",
        codes=("SPC005",),
    )
    secret: ObjectName | None = Field(
        None,
        description="A Secret of the job's namespace, whose keys become variables of the initializer, like "
        "`ACCESS_TOKEN`.",
        examples=["hf-token"],
        bound="a DNS subdomain of 253 characters at most",
        source="Kubernetes, object names",
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the initializer, like `IGNORE_PATTERNS`.",
        examples=[{"IGNORE_PATTERNS": "*.bin"}],
        bound="names of Kubernetes' form; text without a zero byte; no secret",
        source="core/v1 EnvVar",
        codes=("RUN024",),
    )

    @model_validator(mode="after")
    def _is_read(self) -> Self:
        if not _is_read(self.storage_uri):
            raise fault(
                f"`{self.storage_uri}` is no place that an initializer reads",
                "write `hf://OWNER/NAME` or `s3://BUCKET/PREFIX`",
                "storageUri",
                source="trainer v2.3.0, pkg/initializers",
            )
        return self


class Initializer(SpecModel):
    """What Trainer downloads to `/workspace/dataset` and `/workspace/model` before the nodes start."""

    dataset: Downloaded | None = Field(
        None,
        description="What is downloaded to `/workspace/dataset`.",
        examples=[{"storageUri": "hf://tatsu-lab/alpaca"}],
    )
    model: Downloaded | None = Field(
        None,
        description="What is downloaded to `/workspace/model`.",
        examples=[{"storageUri": "hf://meta-llama/Llama-3.2-1B", "secret": "hf-token"}],
    )
    storage: Name | None = Field(
        None,
        description="The storage, mounted by the job, that holds it for all nodes; derived where only one could.",
        examples=["scratch"],
        bound="a file system of FSx for Lustre that the job mounts, and not read-only; its job is a TrainJob",
        source="trainer v2.3.0, pkg/constants",
        codes=("RES165", "RES166"),
    )

    @model_validator(mode="after")
    def _downloads(self) -> Self:
        if self.dataset is None and self.model is None:
            raise fault(
                "an initializer that downloads nothing",
                "write `dataset:` or `model:`",
                source="trainer.kubeflow.org/v1alpha1 TrainJob initializer",
            )
        return self

    def parts(self) -> dict[str, Downloaded]:
        """What is downloaded, by its name."""
        both = {"dataset": self.dataset, "model": self.model}
        named = both.items()
        return {name: source for name, source in named if source is not None}


class InitContainer(SpecModel):
    """What runs in every pod before the program, with the job's mounts, volumes and files."""

    name: Name = Field(
        description="The container's name, unique in the job and not `node`.",
        examples=["prepare"],
        bound="a label of 63 characters at most, unique in the job; not `node`",
        source="core/v1 Container name",
        codes=("RES009",),
    )
    image: ImageOrName | None = Field(
        None,
        description="The container image, or the name of one under `images`; derived: the job's.",
        examples=["registry.example/prepare:1.0"],
        bound="a reference with a tag that is not `latest`, or a digest; or the name of an image of the spec",
        source="distribution reference grammar",
        codes=("RES140", "RES144"),
    )
    command: Command = Field(
        min_length=1,
        description="The program and its words, without a shell.",
        examples=[["python", "prepare.py"]],
        bound="a program and its words, no zero byte; no secret",
        source="core/v1 Container command; execve(2)",
        codes=("RUN024", "RUN131", "RUN153"),
    )
    args: list[Word] = Field(
        [],
        description="More words of the command.",
        examples=[["--shards", "64"]],
        bound="any text without a zero byte; no secret",
        source="core/v1 Container args; execve(2)",
        codes=("RUN024", "RUN130"),
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the program; it has none of the job's.",
        examples=[{"HF_HOME": "/cache"}],
        bound="names of Kubernetes' form; text without a zero byte; no secret; judged like the variables of a "
        "job",
        source="core/v1 EnvVar",
        codes=("RUN024", "RUN042", "RUN124", "RUN130", "RUN136"),
    )


class FlightRecorder(SpecModel):
    """The last collectives of each rank, which PyTorch writes to a file when one does not end in time."""

    path: Path | None = Field(
        None,
        description="The folder that the files are written to, inside a mount, which must be there; derived: that of "
        "`checkpoint`, or the only mount.",
        examples=["/data/fsx/traces"],
        bound="an absolute path in a mount that can be written and replaces files; derived: that of "
        "`checkpoint`, or the only mount",
        source="torch 2.6.0 to 2.12.0, FlightRecorder.hpp; Mountpoint for Amazon S3, semantics",
        codes=("RES341", "RES342"),
    )
    entries: int = Field(
        2000,
        ge=1,
        le=1_000_000,
        description="The collectives that each rank remembers.",
        examples=[20000],
        bound="1 to 1000000; on NVIDIA GPUs",
        source="torch 2.6.0 to 2.12.0, FlightRecorder.hpp",
        codes=("RES343",),
    )


Level = Literal[
    "reservation",
    "network-node-layer-1",
    "network-node-layer-2",
    "network-node-layer-3",
    "hostname",
]


class JobTopology(OneOf):
    """How close together the nodes of a job are: below one node of a level of the pool's topology."""

    required: Level | None = Field(
        None,
        description="The level below which all nodes of the job must be: it waits until they are.",
        examples=["network-node-layer-2"],
        bound="a level of the pool's topology",
        source="kueue v0.19.2, topology-aware scheduling; EC2 DescribeInstanceTopology",
        codes=("SPC005", "RES062"),
    )
    preferred: Level | None = Field(
        None,
        description="The level below which all nodes of the job are where they fit, or else below the next wider one.",
        examples=["network-node-layer-3"],
        bound="the same, not with `required`",
        source="kueue v0.19.2, topology-aware scheduling",
        codes=("SPC005", "RES062"),
    )

    @property
    def level(self) -> Level:
        """The level, whether it is required or preferred."""
        level = self.required or self.preferred
        assert level is not None, "exactly one of the keys is given"
        return level
