"""Training jobs, as people write them: ten lines, everything else derived."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.types import (
    Amount,
    Command,
    Count,
    EnvName,
    HugePages,
    Image,
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


class Mount(SpecModel):
    """A storage, mounted into every pod of the job."""

    storage: Name
    path: MountPath
    read_only: bool = False


class SecretEnv(SpecModel):
    """An environment variable from a Secret that exists in the job's namespace."""

    env: EnvName
    secret: ObjectName
    key: SecretKey


class Checkpoint(SpecModel):
    """Where and how often the job saves, so that a restart can go on.

    The program is told by CHECKPOINT_DIR, CHECKPOINT_EVERY_SECONDS and CHECKPOINT_SIGNAL_FILE.
    """

    path: Path
    every: Period | None = None
    signal_file: Path | None = Field(
        None, description="a file that appears in the container when the pod must stop; the program saves, then "
        "removes it, and the pod gets SIGTERM; `/bin/sh` must be in the image"
    )

    @model_validator(mode="after")
    def _names_a_file(self) -> Self:
        if self.signal_file is not None and self.signal_file.endswith(("/", "/.", "/..")):
            raise fault(f"`{self.signal_file}` is a folder, and the signal is a file",
                        f"write `{self.signal_file.rstrip('/.')}/save-now`", "signalFile",
                        source="open(2): EISDIR, a folder cannot be written")
        return self


class Retries(SpecModel):
    """How often failures are retried: processes in place, then the whole gang."""

    process: int = Field(3, ge=0, le=1000, description="torchrun's --max-restarts")
    job: int = Field(10, ge=0, le=1000, description="JobSet's maxRestarts: all pods anew")


class JobResources(SpecModel):
    """What one node of the job asks for; each that is left out is derived from the pool."""

    cpu: Amount | None = None
    memory: Size | None = None
    gpus: int | None = Field(None, ge=0, description="accelerators a node")
    efa: int | None = Field(None, ge=0, description="EFA devices a node")
    huge_pages: HugePages | None = Field(None, description="2 MiB huge pages, for libfabric's EFA provider; derived: "
                                          "5120Mi, or all that a small node sets aside")
    ephemeral_storage: Size | None = None


class Model(SpecModel):
    """The model, so that its state can be held against the memory of the accelerators."""

    parameters: Count
    precision: Literal["fp32", "bf16", "fp16", "fp8"] = "bf16"
    sharding: Literal["none", "full"] = Field("none", description="`full`: state is cut over all GPUs (FSDP, ZeRO-3)")
    optimizer_bytes: int | None = Field(None, ge=0, le=32, description="bytes of optimizer state a parameter")


class Job(SpecModel):
    """A training job: one pod a node, started together."""

    name: JobName
    queue: Name | None = None
    namespace: Name | None = None
    pool: Name | None = None
    nodes: int = Field(1, ge=1, le=5000)
    image: Image = Field(description="container image with a tag or, better, a digest")
    command: Command = Field(min_length=1, description="what each node runs, like `[torchrun, train.py]`")
    args: list[Word] = []
    env: dict[EnvName, Word] = {}
    secrets: list[SecretEnv] = []
    mounts: list[Mount] = []
    checkpoint: Checkpoint | None = None
    retries: Retries = Retries()
    resources: JobResources = JobResources()
    processes_per_node: int | None = Field(None, ge=1, le=1024)
    shared_memory: Size | None = Field(None, description="size of /dev/shm, inside the memory limit")
    priority: Name | None = None
    service_account: ObjectName | None = Field(
        None, description="account of its pods, which exists in the namespace (as for Pod Identity); "
        "derived: one without any rights"
    )
    grace_period: Period | None = Field(
        None, description="time to save between the signal to stop and the kill; derived: 10m with a checkpoint (8m in "
        "a Capacity Block) or 1m"
    )
    torch: TorchVersion | None = Field(
        None, description="the PyTorch in the image, where its tag does not say it: from `2.12` on torchrun is told to "
        "leave its ranks the grace period, before that it kills them after 30 seconds"
    )
    timeout: Period | None = Field(None, description="from start to the end of all retries")
    rerun: int = Field(0, ge=0, description="raise it to run a job anew; its earlier run goes on until it is deleted")
    done: bool = Field(
        False, description="its runs have ended: no object of it stays in git, so that nothing runs it again"
    )
    labels: dict[JobLabelKey, LabelValue] = {}
    model: Model | None = None
