"""Training jobs, as people write them: ten lines, everything else derived."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from compiler.diagnostics.diagnostic import listed
from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.choice import OneOf
from compiler.spec.section import Section
from compiler.spec.types import (
    Amount,
    Command,
    Count,
    Distinct,
    EnvName,
    FilePath,
    HostName,
    HugePages,
    Image,
    JobAnnotationKey,
    JobLabelKey,
    JobName,
    LabelValue,
    MountPath,
    Name,
    ObjectName,
    Path,
    Period,
    SecretKey,
    Size,
    TorchVersion,
    Word,
)
from compiler.subjects.jobs.launchers.spec import JobLauncher, filled


class Mount(SpecModel):
    """A storage, mounted into every pod of the job."""

    storage: Name = Field(
        description="The name of the storage.", examples=["checkpoints"]
    )
    path: MountPath = Field(
        description="The folder of the container at which it appears.",
        examples=["/data/fsx"],
    )
    read_only: bool = Field(
        False, description="Whether the job may only read it.", examples=[True]
    )


class ClaimVolume(SpecModel):
    """A PersistentVolumeClaim that exists in the job's namespace."""

    claim_name: ObjectName = Field(
        description="The name of the claim.", examples=["datasets"]
    )


class ConfigMapVolume(SpecModel):
    """A ConfigMap that exists in the job's namespace."""

    name: ObjectName = Field(
        description="The name of the ConfigMap.", examples=["tokenizer"]
    )


class SecretVolume(SpecModel):
    """A Secret that exists in the job's namespace."""

    secret_name: ObjectName = Field(
        description="The name of the Secret.", examples=["wandb"]
    )


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

    size: Size = Field(
        description="The size above which the pod is evicted.", examples=["2Ti"]
    )


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

    name: Name = Field(
        description="The name of the volume, unique in the job.", examples=["cache"]
    )
    path: MountPath = Field(
        description="The folder of the container at which it appears.",
        examples=["/cache"],
    )
    read_only: bool = Field(
        False, description="Whether the job may only read it.", examples=[True]
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
            what = f"{listed(given)} are given" if given else "of no kind"
            raise fault(
                f"volume `{self.name}`: {what}"
                if given
                else f"volume `{self.name}` is {what}",
                f"write exactly one of {listed(_KINDS_OF_VOLUMES)}",
            )
        return self

    def _given(self) -> list[str]:
        fields = type(self).model_fields
        keys = [(name, field.alias or name) for name, field in fields.items()]
        return [
            key
            for name, key in keys
            if key in _KINDS_OF_VOLUMES and getattr(self, name) is not None
        ]

    @property
    def chosen(self) -> str:
        """The one kind, as it is written."""
        return self._given()[0]


# core/v1 ConfigMap: validation of Kubernetes 1.35 counts the bytes of all values, MaxSecretSize.
_MOST_FILES = 1024**2


def _of_one_config_map(files: dict[str, str]) -> dict[str, str]:
    total = sum(len(text.encode()) for text in files.values())
    if total > _MOST_FILES:
        raise fault(
            f"the files have {total} bytes, and a ConfigMap has at most {_MOST_FILES}",
            "put what is large into the image, or into a storage",
            source="core/v1 ConfigMap (Kubernetes 1.35)",
        )
    return files


class InitContainer(SpecModel):
    """What runs in every pod before the program, with the job's mounts, volumes and files."""

    name: Name = Field(
        description="The container's name, unique in the job and not `node`.",
        examples=["prepare"],
    )
    image: Image | None = Field(
        None,
        description="The container image; derived: the job's.",
        examples=["registry.example/prepare:1.0"],
    )
    command: Command = Field(
        min_length=1,
        description="The program and its words, without a shell.",
        examples=[["python", "prepare.py"]],
    )
    args: list[Word] = Field(
        [], description="More words of the command.", examples=[["--shards", "64"]]
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the program; it has none of the job's.",
        examples=[{"HF_HOME": "/cache"}],
    )


class SecretEnv(SpecModel):
    """An environment variable from a Secret that exists in the job's namespace."""

    env: EnvName = Field(
        description="The name of the environment variable.", examples=["HF_TOKEN"]
    )
    secret: ObjectName = Field(
        description="The name of the Secret.", examples=["hf-token"]
    )
    key: SecretKey = Field(
        description="The key inside the Secret whose value the variable gets.",
        examples=["token"],
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
    )
    every: Period | None = Field(
        None,
        description="The time between two saves, which the program reads from `CHECKPOINT_EVERY_SECONDS`; unset: the "
        "variable is not set.",
        examples=["30m"],
    )
    keep: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="How many checkpoints the program keeps, which it reads from `CHECKPOINT_KEEP`; derived: 10, and "
        "the variable is not set.",
        examples=[3],
    )
    asynchronous: bool = Field(
        False,
        alias="async",
        description="Whether training goes on while a checkpoint is written, as with `async_save` of PyTorch.",
        examples=[True],
    )
    signal_file: Path | None = Field(
        None,
        description="A file that appears in the container when the pod must stop; the program saves and removes it, "
        "then SIGTERM follows.",
        examples=["/tmp/save-now"],
    )

    @model_validator(mode="after")
    def _names_a_file(self) -> Self:
        if self.signal_file is not None and self.signal_file.endswith(
            ("/", "/.", "/..")
        ):
            raise fault(
                f"`{self.signal_file}` is a folder, and the signal is a file",
                f"write `{self.signal_file.rstrip('/.')}/save-now`",
                "signalFile",
                source="open(2): EISDIR, a folder cannot be written",
            )
        return self


class Retries(SpecModel):
    """How often failures are retried: processes in place, then the whole gang."""

    process: int = Field(
        3,
        ge=0,
        le=1000,
        description="How often torchrun restarts failed processes in place, as `--max-restarts` does.",
        examples=[3],
    )
    job: int = Field(
        10,
        ge=0,
        le=1000,
        description="How often all pods of the job are made anew, as JobSet's `maxRestarts`.",
        examples=[10],
    )


class JobResources(SpecModel):
    """What one node of the job asks for; each that is left out is derived from the pool."""

    cpu: Amount | None = Field(
        None,
        description="The CPUs of one node that the job takes; derived: all that jobs can get of a node, or its "
        "accelerators' part.",
        examples=[90],
    )
    memory: Size | None = Field(
        None,
        description="The memory of one node that the job takes; derived: all that jobs can get of a node, or its "
        "accelerators' part.",
        examples=["900Gi"],
    )
    accelerators: int | None = Field(
        None,
        ge=0,
        description="The accelerators of one node that the job takes; derived: all.",
        examples=[8],
    )
    efa: int | None = Field(
        None,
        ge=0,
        description="The EFA devices of one node that the job takes; derived: all for several nodes, none for one.",
        examples=[32],
    )
    huge_pages: HugePages | None = Field(
        None,
        description="The memory in 2 MiB huge pages, which EFA needs; `0` is none; derived: `5120Mi`, or all that a "
        "small node sets aside.",
        examples=["5120Mi"],
    )
    ephemeral_storage: Size | None = Field(
        None,
        description="The space for logs, `/tmp` and the container's own files on one node; unset: nothing is "
        "requested.",
        examples=["200Gi"],
    )


Degree = Annotated[int, Field(ge=1, le=65536)]


class Parallel(SpecModel):
    """How the ranks of a job divide the model and its data; together the degrees are all ranks."""

    tensor: Degree = Field(
        1,
        description="The ranks that divide each layer, best those of one node.",
        examples=[8],
    )
    pipeline: Degree = Field(
        1, description="The stages of layers, one after the other.", examples=[4]
    )
    context: Degree = Field(
        1, description="The ranks that divide each sequence.", examples=[2]
    )
    data: int | None = Field(
        None,
        ge=1,
        le=65536,
        description="The copies of the model, each with data of its own; derived: the ranks that are left.",
        examples=[16],
    )


class Model(SpecModel):
    """The model, so that its training state can be compared with the memory of the accelerators."""

    parameters: Count = Field(
        description="The number of parameters of the model.", examples=[8.03e9]
    )
    trainable: Count | None = Field(
        None,
        description="The number of parameters that are trained, with adapters (LoRA) a few of them; unset: all.",
        examples=[41.9e6],
    )
    precision: Literal["fp32", "bf16", "fp16", "fp8"] = Field(
        "bf16",
        description="The format in which the model computes.",
        examples=["bf16"],
    )
    sharding: Literal["none", "optimizer", "gradients", "full"] = Field(
        "none",
        description="What is divided among the ranks: nothing, the optimizer (ZeRO-1), gradients too (ZeRO-2), or "
        "weights too (`full`: FSDP, ZeRO-3).",
        examples=["full"],
    )
    offload: Literal["optimizer", "parameters"] | None = Field(
        None,
        description="What is kept in the node's memory: gradients and `optimizer`, or `parameters` too; unset: "
        "nothing.",
        examples=["optimizer"],
    )
    parallel: Parallel | None = Field(
        None,
        description="The degrees of parallelism; unset: every rank has a copy of the model, or a shard of one.",
        examples=[{"tensor": 8, "pipeline": 4}],
    )
    optimizer_bytes: int | None = Field(
        None,
        ge=0,
        le=32,
        description="The bytes of optimizer state for each parameter; derived: 8 for `fp32`, otherwise 12, as Adam "
        "has.",
        examples=[12],
    )

    @model_validator(mode="after")
    def _trains_what_there_is(self) -> Self:
        if self.trainable is not None and self.trainable > self.parameters:
            raise fault(
                f"{self.trainable:.3g} parameters are trained, and the model has {self.parameters:.3g}",
                "write how many of them are trained, or remove it: all are",
                "trainable",
            )
        return self


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
    )
    preferred: Level | None = Field(
        None,
        description="The level below which all nodes of the job are where they fit, or else below the next wider one.",
        examples=["network-node-layer-3"],
    )

    @property
    def level(self) -> Level:
        """The level, whether it is required or preferred."""
        level = self.required or self.preferred
        assert level is not None, "exactly one of the keys is given"
        return level


_MOST_ANNOTATIONS = (
    256 * 1024
)  # apimachinery 0.35, validation.TotalAnnotationSizeLimitB


def _of_bearable_size(annotations: dict[str, str]) -> dict[str, str]:
    total = sum(
        len(key.encode()) + len(value.encode()) for key, value in annotations.items()
    )
    if total > _MOST_ANNOTATIONS:
        raise fault(
            f"the annotations have {total} bytes, an object has at most {_MOST_ANNOTATIONS}",
            "put long texts into `files`",
            source="apimachinery 0.35, TotalAnnotationSizeLimitB",
        )
    return annotations


class Job(SpecModel):
    """A training job: one pod on each node, all started together."""

    name: JobName = Field(
        description="The job's name; the TrainJob's name is made of it and a hash.",
        examples=["pretrain"],
    )
    extends: Name | None = Field(
        None,
        description="Another job of this spec that gives all that this one leaves out but `name`, `rerun` and `done`.",
        examples=["pretrain"],
    )
    queue: Name | None = Field(
        None,
        description="The queue that the job waits in; derived where only one queue could take it.",
        examples=["research"],
    )
    namespace: Name | None = Field(
        None,
        description="The namespace that the job runs in; derived where its queue has only one.",
        examples=["team-a"],
    )
    pool: Name | None = Field(
        None,
        description="The pool that the job runs on; derived where its queue has only one.",
        examples=["h100"],
    )
    nodes: int = Field(
        1,
        ge=1,
        le=5000,
        description="The number of nodes, with one pod on each; all start together or none does.",
        examples=[4],
    )
    image: Image = Field(
        description="The container image, with a tag or, better, a digest.",
        examples=["registry.example/train:1.4.2"],
    )
    command: Command = Field(
        min_length=1,
        description="The program and its words that each node runs, without a shell.",
        examples=[["torchrun", "train.py"]],
    )
    args: list[Word] = Field(
        [],
        description="More words of the command, kept apart so that they are easy to change.",
        examples=[["--config", "llama3-8b.yaml"]],
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the program; they win over derived ones of the same name.",
        examples=[{"NCCL_DEBUG": "INFO"}],
    )
    secrets: list[SecretEnv] = Field(
        [],
        description="Environment variables whose values are in Secrets of the job's namespace.",
        examples=[[{"env": "HF_TOKEN", "secret": "hf-token", "key": "token"}]],
    )
    mounts: list[Mount] = Field(
        [],
        description="The storage that the job reads and writes, and where it appears.",
        examples=[[{"storage": "checkpoints", "path": "/data/fsx"}]],
    )
    volumes: list[JobVolume] = Field(
        [],
        description="Volumes beside storage, and where they appear in every container of the job.",
        examples=[[{"name": "cache", "path": "/cache", "nodeLocal": {"size": "2Ti"}}]],
    )
    files: Annotated[dict[FilePath, Word], AfterValidator(_of_one_config_map)] = Field(
        {},
        description="Texts by the path at which they appear as files, read-only; 1 MiB together, and no secrets.",
        examples=[{"/workspace/train.yaml": "epochs: 3"}],
    )
    init_containers: list[InitContainer] = Field(
        [],
        description="What runs in every pod before the program, one after the other.",
        examples=[[{"name": "prepare", "command": ["python", "prepare.py"]}]],
    )
    checkpoint: Checkpoint | None = Field(
        None,
        description="Where the job saves; with it, pods that must stop have minutes to save instead of one.",
        examples=[{"path": "/data/fsx/pretrain", "every": "30m"}],
    )
    retries: Retries = Field(
        Retries.model_construct(),
        description="How often failures are retried.",
        examples=[{"process": 3, "job": 10}],
    )
    resources: JobResources = Field(
        JobResources.model_construct(),
        description="What the job takes of each node; all of it is derived: write only what you want to change.",
        examples=[{"memory": "900Gi"}],
    )
    launcher: JobLauncher | None = Field(
        None,
        description="How the processes start and find each other; unset: by torchrun, or by the program itself.",
        examples=[{"torchrun": {}}],
    )
    processes_per_node: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="The processes that the launcher starts on each node; derived: one for each accelerator or logical "
        "NeuronCore.",
        examples=[8],
    )
    shared_memory: Size | None = Field(
        None,
        description="The size of `/dev/shm`, which counts as memory of the job; derived: 8Gi a process, at most a "
        "quarter of the memory.",
        examples=["64Gi"],
    )
    priority: Name | None = Field(
        None,
        description="The priority of the job in its queue; unset: one of value 1.",
        examples=["urgent"],
    )
    service_account: ObjectName | None = Field(
        None,
        description="The service account of the pods, which exists in the namespace; derived: `training`, an account "
        "without rights.",
        examples=["s3-writer"],
    )
    grace_period: Period | None = Field(
        None,
        description="The time to save between SIGTERM and SIGKILL; derived: `10m` with a checkpoint (`8m` in a "
        "Capacity Block), otherwise `1m`.",
        examples=["20m"],
    )
    torch: TorchVersion | None = Field(
        None,
        description="The PyTorch version in the image, in quotes, where its tag does not say it; from 2.12 on "
        "torchrun waits for the grace period.",
        examples=["2.12"],
    )
    timeout: Period | None = Field(
        None,
        description="The time from the first start until the job is ended, retries included; unset: no limit.",
        examples=["72h"],
    )
    rerun: int = Field(
        0,
        ge=0,
        description="A number to raise to run a changed job anew; the earlier run goes on until it is deleted.",
        examples=[1],
    )
    done: bool = Field(
        False,
        description="Whether all runs of the job have ended, so that no object of it stays in git and nothing runs it "
        "again.",
        examples=[True],
    )
    labels: dict[JobLabelKey, LabelValue] = Field(
        {},
        description="Kubernetes labels of the job's TrainJob; they win over `spec.labels`.",
        examples=[{"project": "llama"}],
    )
    annotations: Annotated[
        dict[JobAnnotationKey, Word], AfterValidator(_of_bearable_size)
    ] = Field(
        {},
        description="Kubernetes annotations of the job's TrainJob and of its pods.",
        examples=[{"example.com/owner": "research"}],
    )
    image_pull_secrets: Annotated[list[ObjectName], Distinct] = Field(
        [],
        description="Secrets of the job's namespace, of type `kubernetes.io/dockerconfigjson`, by which the images are "
        "pulled.",
        examples=[["registry-login"]],
    )
    working_dir: Path | None = Field(
        None,
        description="The folder that the command starts in; unset: the one of the image.",
        examples=["/workspace"],
    )
    exclude_nodes: Annotated[list[HostName], Distinct] = Field(
        [],
        description="Nodes by name that the job must not run on, in a pool whose nodes are always on.",
        examples=[["ip-10-0-12-34.us-west-2.compute.internal"]],
    )
    topology: JobTopology | None = Field(
        None,
        description="How close together the nodes are, in a pool with a topology; derived: as close as they fit.",
        examples=[{"required": "network-node-layer-2"}],
    )
    model: Model | None = Field(
        None,
        description="The size of the model, so that its training state is compared with the memory of the "
        "accelerators.",
        examples=[{"parameters": 8.03e9, "sharding": "full"}],
    )

    @model_validator(mode="before")
    @classmethod
    def _by_launcher(cls, job: Any) -> Any:
        return filled(job)


class JobsSection(Section):
    """The jobs, and what they have in common."""

    job_defaults: dict[str, Any] = Field(
        {},
        description="Any keys of a job but `name`, `extends`, `rerun` and `done`, for every job that does not say them "
        "itself.",
        examples=[{"image": "registry.example/train:1.4.2", "retries": {"job": 3}}],
    )
    jobs: list[Job] = Field(
        [],
        description="The training jobs of the cluster.",
        examples=[
            [
                {
                    "name": "pretrain",
                    "nodes": 4,
                    "image": "registry.example/train:1.4.2",
                    "command": ["torchrun", "train.py"],
                },
            ]
        ],
    )
    ended_runs: Annotated[list[ObjectName], Distinct] = Field(
        [],
        description="The TrainJobs of earlier runs that have ended, so that what they needed may be removed.",
        examples=[["finetune-58ede"]],
    )
    labels: dict[JobLabelKey, LabelValue] = Field(
        {},
        description="Kubernetes labels of every job's TrainJob; a job's own labels win.",
        examples=[{"team": "research"}],
    )


SECTION = JobsSection
DOCUMENTS = {"TrainingJob": ("jobs", Job)}
