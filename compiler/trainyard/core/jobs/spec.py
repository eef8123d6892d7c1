"""The spec of training jobs: ten lines, everything else derived."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, model_validator

from trainyard.core.jobs.keys import (
    Checkpoint,
    FlightRecorder,
    InitContainer,
    Initializer,
    JobTopology,
    JobVolume,
    Role,
)
from trainyard.core.jobs.launchers.filling import filled
from trainyard.core.jobs.launchers.spec import JobLauncher
from trainyard.core.jobs.model_spec import DeepSpeed, Model
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import (
    MOST_NODES,
    Amount,
    Command,
    Distinct,
    EnvName,
    FilePath,
    GracePeriod,
    HostName,
    HugePages,
    ImageOrName,
    JobAnnotationKey,
    JobLabelKey,
    JobName,
    LabelValue,
    MountPath,
    Name,
    ObjectName,
    Period,
    SecretKey,
    Size,
    TorchVersion,
    Word,
    WritablePath,
)
from trainyard.language.source.texts import TextKey


class Mount(SpecModel):
    """A storage, mounted into every pod of the job."""

    storage: Name = Field(
        description="The name of the storage.",
        examples=["checkpoints"],
        bound="a declared storage, in the zone of the pool",
        source="this language",
        codes=("RES012", "PLC015"),
    )
    path: MountPath = Field(
        description="The folder of the container at which it appears.",
        examples=["/data/fsx"],
        bound="an absolute path of 4095 characters at most, each once; not the kernel's (`/proc`, `/sys`, "
        "`/dev`), nor what hides the image (`/`, `/etc`, `/usr` ...)",
        source="core/v1 VolumeMount mountPath; runc; Filesystem Hierarchy Standard",
        codes=("RES031",),
    )
    read_only: bool = Field(
        False,
        description="Whether the job may only read it.",
        examples=[True],
        bound="not where checkpoints are saved",
        source="core/v1 VolumeMount readOnly",
        codes=("RES035",),
    )

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written there."""
        return self.read_only


# core/v1 ConfigMap: validation of Kubernetes 1.35 counts the bytes of all values, MaxSecretSize.
_MOST_FILES = 1024**2


def _of_one_config_map(files: dict[str, str]) -> dict[str, str]:
    texts = files.values()
    total = sum(len(text.encode()) for text in texts)
    if total > _MOST_FILES:
        raise fault(
            f"the files have {total} bytes, and a ConfigMap has at most {_MOST_FILES}",
            "put what is large into the image, or into a storage",
            source="core/v1 ConfigMap (Kubernetes 1.35)",
        )
    return files


class SecretEnv(SpecModel):
    """An environment variable from a Secret that exists in the job's namespace."""

    env: EnvName = Field(
        description="The name of the environment variable.",
        examples=["HF_TOKEN"],
        bound="a variable's name, once in the job",
        source="core/v1 EnvVar",
        codes=("RES009",),
    )
    secret: ObjectName = Field(
        description="The name of the Secret.",
        examples=["hf-token"],
        bound="a DNS subdomain of 253 characters at most",
        source="Kubernetes, object names",
    )
    key: SecretKey = Field(
        description="The key inside the Secret whose value the variable gets.",
        examples=["token"],
        bound="letters, digits, `-`, `_`, `.`; not `.`, and no two dots first",
        source="apimachinery IsConfigMapKey",
    )


class JobResources(SpecModel):
    """What one node of the job asks for; each that is left out is derived from the pool."""

    cpu: Amount | None = Field(
        None,
        description="The CPUs of one node that the job takes; derived: all that jobs can get of a node, or its "
        "accelerators' part.",
        examples=[90],
        bound="what the node leaves at most; a core for each accelerator at least",
        source="karpenter v1.14.1 types.go; Kubernetes, managing resources",
        codes=("LIM002", "LIM015", "RES037"),
    )
    memory: Size | None = Field(
        None,
        description="The memory of one node that the job takes; derived: all that jobs can get of a node, or its "
        "accelerators' part.",
        examples=["900Gi"],
        bound="what the node leaves at most; 1Gi for each accelerator at least",
        source="karpenter v1.14.1 types.go; Kubernetes, managing resources",
        codes=("LIM002", "LIM015", "RES037"),
    )
    accelerators: int | None = Field(
        None,
        ge=0,
        description="The accelerators of one node that the job takes; derived: all.",
        examples=[8],
        bound="what the type has at most; whole nodes for a gang, and where nobody takes the rest",
        source="EC2 DescribeInstanceTypes GpuInfo",
        codes=("LIM001", "LIM008", "LIM016", "RES025"),
    )
    efa: int | None = Field(
        None,
        ge=0,
        description="The EFA devices of one node that the job takes; derived: all for several nodes, none for one.",
        examples=[32],
        bound="what the type has at most; all for a gang, none for one node",
        source="EC2 DescribeInstanceTypes EfaInfo",
        codes=("EFA001", "EFA002", "EFA003", "EFA018"),
    )
    huge_pages: HugePages | None = Field(
        None,
        description="The memory in 2 MiB huge pages, which EFA needs; `0` is none; derived: `5120Mi`, or all that a "
        "small node sets aside.",
        examples=["5120Mi"],
        bound="whole pages of 2 MiB, what the node sets aside at most; 0 is none",
        source="core/v1 ResourceRequirements; efa-config of the EFA installer",
        codes=("EFA008", "EFA009"),
    )
    ephemeral_storage: Size | None = Field(
        None,
        description="The space for logs, `/tmp` and the container's own files on one node; unset: nothing is "
        "requested.",
        examples=["200Gi"],
        bound="what a node's disks leave at most",
        source="Kubernetes, local ephemeral storage",
        codes=("RES048",),
    )


_MOST_ANNOTATIONS = 256 * 1024  # apimachinery 0.35, validation.TotalAnnotationSizeLimitB


def _of_bearable_size(annotations: dict[str, str]) -> dict[str, str]:
    total = 0
    for key, value in annotations.items():
        total += len(key.encode())
        total += len(value.encode())
    if total > _MOST_ANNOTATIONS:
        raise fault(
            f"the annotations have {total} bytes, an object has at most {_MOST_ANNOTATIONS}",
            "put long texts into `files`",
            source="apimachinery 0.35, TotalAnnotationSizeLimitB",
        )
    return annotations


_is_name = get_args(Name)[1].func


def _in_list(value: Any) -> Any:
    """The name of one pool is a list of it; a value that is no list must be a name, and is reported at its own
    place."""
    if isinstance(value, list):
        return value
    return [_is_name(value)]


_SeveralPools = Annotated[list[Name], Field(min_length=1)]
Pools = Annotated[
    list[Name],
    Field(min_length=1, max_length=16),
    BeforeValidator(_in_list, json_schema_input_type=Name | _SeveralPools),
    Distinct,
]


class Job(SpecModel):
    """A training job: one pod on each node, all started together."""

    name: JobName = Field(
        description="The job's name; the TrainJob's name is made of it and a hash.",
        examples=["pretrain"],
        bound="a label with a letter first, unique; short enough for its pods' names",
        source="Kubernetes, object names; JobSet's pod names",
        codes=("RES009", "NAM002"),
    )
    extends: Name | None = Field(
        None,
        description="Another job of this spec that gives what this one leaves out but `name`, `rerun` and `completed`.",
        examples=["pretrain"],
        bound="the name of another job of the spec, not in a circle",
        source="this language",
        codes=("YML060", "YML061"),
    )
    queue: Name | None = Field(
        None,
        description="The queue that the job waits in; derived where only one queue could take it.",
        examples=["research"],
        bound="a declared queue, or the only one",
        source="this language",
        codes=("RES016", "RES017"),
    )
    namespace: Name | None = Field(
        None,
        description="The namespace that the job runs in; derived where its queue has only one.",
        examples=["team-a"],
        bound="one of the queue's, or the only one",
        source="kueue.x-k8s.io LocalQueue",
        codes=("RES013", "RES017"),
    )
    pool: Pools | None = Field(
        None,
        description="The pool that the job runs on, or several in the order of its queue: all nodes come from the "
        "first with room; derived where its queue has only one.",
        examples=["h100", ["h100", "h100-spot"]],
        bound="a declared pool of the queue, or the only one; or 16 at most, each once, in the order of the "
        "queue, that the job is the same on",
        source="kueue.x-k8s.io ResourceFlavor; kueue v0.19.2, flavorassigner",
        codes=("RES011", "RES017", "RES170", "RES171"),
    )
    nodes: int = Field(
        1,
        ge=1,
        le=MOST_NODES,
        description="The number of nodes, with one pod on each; all start together or none does.",
        examples=[4],
        bound="1 to 5000; no more than the pool and the quota have",
        source="Kubernetes, large clusters; Kueue admits all pods or none",
        codes=("LIM003", "QUE005"),
    )
    min_nodes: int | None = Field(
        None,
        ge=1,
        le=MOST_NODES,
        description="The fewest nodes with which a plain Job or a HyperPodPyTorchJob starts, of at most `nodes` at "
        "once; unset: all of them.",
        examples=[2],
        bound="1 to `nodes`; below it in a plain Job or a HyperPodPyTorchJob alone; `nodes` no more than the "
        "pool has",
        source="kueue v0.19.2, job-min-parallelism",
        codes=("SPC005", "RES164", "RES335", "LIM035", "QUE031"),
    )
    image: ImageOrName = Field(
        description="The container image, with a tag or, better, a digest; or the name of one under `images`.",
        examples=["registry.example/train:1.4.2"],
        bound="a reference with a tag that is not `latest`, or a digest; a registry that can be; software for "
        "the accelerators; or the name of an image of the spec",
        source="distribution reference grammar; ECR user guide, private registry; AWS Deep Learning Containers",
        codes=("RES140", "RES144", "RUN013", "RUN037", "RUN038", "RUN078", "RUN145", "RUN151"),
    )
    command: Command = Field(
        min_length=1,
        description="The program and its words that each node runs, without a shell.",
        examples=[["torchrun", "train.py"]],
        bound="a program and its words, no zero byte; whoever needs a shell names it; each node finds the "
        "others; no secret; nothing installed at every start",
        source="core/v1 Container command; execve(2); torchrun",
        codes=("RUN009", "RUN010", "RUN024", "RUN026", "RUN035", "RUN036", "RUN039"),
    )
    args: list[Word] = Field(
        [],
        description="More words of the command, kept apart so that they are easy to change.",
        examples=[["--config", "llama3-8b.yaml"]],
        bound="any text without a zero byte; no secret",
        source="core/v1 Container args; execve(2)",
        codes=("RUN024", "RUN035"),
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the program; they win over derived ones of the same name.",
        examples=[{"NCCL_DEBUG": "INFO"}],
        bound="names of Kubernetes' form, not those that Trainer sets; text without a zero byte; no secret; "
        "nothing that breaks NCCL or EFA",
        source="core/v1 EnvVar; Trainer v2.3.0; NCCL environment variables",
        codes=(
            "SCH011",
            "RUN024",
            "RUN042",
            "EFA010",
            "EFA011",
            "EFA013",
            "EFA020",
            "RUN124",
            "EFA035",
        ),
    )
    secret_env: list[SecretEnv] = Field(
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
        description="Volumes other than storage, and where they appear in every container of the job.",
        examples=[[{"name": "cache", "path": "/cache", "nodeLocal": {"size": "2Ti"}}]],
    )
    files: Annotated[dict[FilePath, Word], AfterValidator(_of_one_config_map)] = Field(
        {},
        description="Texts by the path at which they appear as files, read-only; 1 MiB together, and no secrets.",
        examples=[{"/workspace/train.yaml": "epochs: 3"}],
        bound="absolute paths of files, none in a mount, a volume or another file; texts of 1 MiB together "
        "without a zero byte; no secret",
        source="core/v1 ConfigMap (Kubernetes 1.35), MaxSecretSize; core/v1 VolumeMount subPath",
        codes=("SPC005", "RES031", "RUN051"),
    )
    init_containers: list[InitContainer] = Field(
        [],
        description="What runs in every pod before the program, one after the other.",
        examples=[[{"name": "prepare", "command": ["python", "prepare.py"]}]],
    )
    initializer: Initializer | None = Field(
        None,
        description="What Trainer downloads once, before the nodes start, to a storage of the job.",
        examples=[{"model": {"storageUri": "hf://meta-llama/Llama-3.2-1B"}}],
    )
    checkpoint: Checkpoint | None = Field(
        None,
        description="Where the job saves; with it, pods that must stop have minutes to save instead of one.",
        examples=[{"path": "/data/fsx/pretrain", "every": "30m"}],
    )
    flight_recorder: FlightRecorder | None = Field(
        None,
        description="Whether PyTorch writes the last collectives of each rank to the job's storage when one does not "
        "end in time; unset: they are lost with the pod.",
        examples=[{"entries": 20000}],
    )
    retries: int | None = Field(
        None,
        ge=0,
        le=1000,
        description="How often all pods of the job are recreated, as JobSet's `maxRestarts`; derived: 10, and 3 of "
        "several nodes that have nowhere to save.",
        examples=[10],
        bound="0 to 1000; more than 20, and more than 9 of several nodes, with a place to save",
        source="jobset.x-k8s.io failurePolicy maxRestarts",
        codes=("RUN041",),
    )
    max_restarts: int | None = Field(
        None,
        ge=0,
        le=1000,
        description="How often torchrun restarts failed processes in place, as `--max-restarts` does; derived: 3, "
        "and 0 on accelerators, where the job itself is retried.",
        examples=[3],
        bound="0 to 1000",
        source="torchrun --max-restarts",
        codes=("RUN146",),
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
    runtime: Literal["torch-distributed", "jax-distributed"] | None = Field(
        None,
        description="A training runtime of Trainer's release that is used as it is, with its image unless the job has "
        "one; unset: one is derived.",
        examples=["torch-distributed"],
        bound="`torch-distributed`, `jax-distributed`; of a TrainJob, and the Trainer whose release is in the "
        "catalog",
        source="compiler/trainyard/catalog/data/runtimes.json",
        codes=("RES205", "RES206", "RES207"),
    )
    deepspeed: DeepSpeed | None = Field(
        None,
        description="The configuration of DeepSpeed, which becomes a file of the job.",
        examples=[{"trainBatchSize": 512, "microBatchSize": 4}],
    )
    kind: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        description="The kind of the job's object: TrainJob where it is unset, PyTorchJob, MPIJob, JobSet, Job or "
        "RayJob, and on HyperPod HyperPodPyTorchJob.",
        examples=["PyTorchJob"],
        bound="a kind that the platform runs: `TrainJob`, `PyTorchJob`, `MPIJob`, `JobSet`, `Job`, `RayJob`, "
        "on HyperPod `HyperPodPyTorchJob`; one that has the launcher",
        source="docs/adr/0015",
        codes=(
            "RES271",
            "RES161",
            "RES162",
            "RES163",
            "RES200",
            "RES201",
            "RES202",
            "RES203",
            "RES204",
            "CHG026",
        ),
    )
    roles: list[Role] = Field(
        [],
        description="Other programs of a JobSet, on nodes of their own; the job ends with its own nodes.",
        examples=[[{"name": "rollout", "command": ["python", "rollout.py"]}]],
    )
    processes_per_node: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="The processes that the launcher starts on each node; derived: one for each accelerator or logical "
        "NeuronCore.",
        examples=[8],
        bound="1 to 1024; one an accelerator",
        source="torchrun --nproc-per-node; slots of Open MPI",
        codes=("RUN011", "RUN060"),
    )
    shared_memory: Size | None = Field(
        None,
        description="The size of `/dev/shm`, which counts as memory of the job; derived: 8Gi a process, at most a "
        "quarter of the memory.",
        examples=["64Gi"],
        bound="below the memory limit; more than the default of 64Mi with several accelerators",
        source="Kubernetes, emptyDir; NCCL, troubleshooting",
        codes=("LIM006", "LIM007"),
    )
    priority: Name | None = Field(
        None,
        description="The priority of the job in its queue; unset: one of value 1.",
        examples=["urgent"],
        bound="a declared priority",
        source="kueue.x-k8s.io WorkloadPriorityClass",
        codes=("RES015",),
    )
    service_account: ObjectName | None = Field(
        None,
        description="The service account of the pods, which exists in the namespace; derived: `training`, an account "
        "without rights.",
        examples=["s3-writer"],
        bound="a DNS subdomain of 253 characters at most",
        source="Kubernetes, object names",
    )
    termination_grace_period: GracePeriod | None = Field(
        None,
        description="The time to save between SIGTERM and SIGKILL; derived: by the time that a checkpoint takes to "
        "write, `5m` where that is unknown, `1m` without one.",
        examples=["20m"],
        bound="above 0, 24h at most; what torchrun and the drain of the node leave",
        source="core/v1 terminationGracePeriodSeconds; PyTorch elastic agent",
        codes=("RUN031", "RUN032", "RES243"),
    )
    torch_version: TorchVersion | None = Field(
        None,
        description="The PyTorch version in the image, in quotes, where its tag does not say it; from 2.12 on "
        "torchrun waits for the grace period.",
        examples=["2.12"],
        bound="a version of PyTorch from 1.10 on, that of the image's tag",
        source="PyTorch releases",
        codes=("RES284",),
    )
    timeout: Period | None = Field(
        None,
        description="The time from the first start until the job is ended, retries included; unset: no limit.",
        examples=["72h"],
        bound="above 0, 120 days at most; no longer than the Capacity Block; more than 24h with a place to save",
        source="trainer.kubeflow.org activeDeadlineSeconds; EC2 user guide, Capacity Blocks; arXiv:2407.21783, "
        "section 3.3.4",
        codes=("RES028", "RES045", "RUN041", "RUN150"),
    )
    expected: Period | None = Field(
        None,
        description="How long the job is expected to run, by which `simulate --timeline` and `check` say when jobs "
        "start and end; nothing is written of it.",
        examples=["20h"],
        bound="above 0, 120 days at most; no longer than the timeout, and than the Capacity Block",
        source="EC2 user guide, Capacity Blocks",
        codes=("RES380", "PLC082"),
    )
    rerun: int = Field(
        0,
        ge=0,
        description="A number to raise to run a changed job again; the earlier run goes on until it is deleted.",
        examples=[1],
        bound="0 or more",
        source="this language",
    )
    completed: bool = Field(
        False,
        description="Whether all runs of the job have ended, so that no object of it stays in git and nothing runs it "
        "again.",
        examples=[True],
        bound="`true`, `false`",
        source="this language",
    )
    labels: dict[JobLabelKey, LabelValue] = Field(
        {},
        description="Kubernetes labels of the job's TrainJob; they win over `spec.labels`.",
        examples=[{"project": "llama"}],
        bound="keys and values of Kubernetes' form; none that the compiler or a controller sets",
        source="Kubernetes, labels",
    )
    annotations: Annotated[dict[JobAnnotationKey, Word], AfterValidator(_of_bearable_size)] = Field(
        {},
        description="Kubernetes annotations of the job's TrainJob and of its pods.",
        examples=[{"example.com/owner": "research"}],
        bound="keys of Kubernetes' form, none of a controller or the compiler; text of 256 KiB together",
        source="apimachinery 0.35, TotalAnnotationSizeLimitB",
        codes=("SPC005",),
    )
    image_pull_secrets: Annotated[list[ObjectName], Distinct] = Field(
        [],
        description="Secrets of the job's namespace, of type `kubernetes.io/dockerconfigjson`, by which the images are "
        "pulled.",
        examples=[["registry-login"]],
        bound="DNS subdomains of 253 characters at most, each once",
        source="Kubernetes, object names; core/v1 PodSpec imagePullSecrets",
    )
    working_dir: WritablePath | None = Field(
        None,
        description="The folder that the command starts in; unset: the one of the image.",
        examples=["/workspace"],
        bound="an absolute path outside of `/proc`, `/sys` and `/dev`",
        source="core/v1 Container workingDir; OCI runtime specification 1.2",
    )
    exclude_nodes: Annotated[list[HostName], Distinct] = Field(
        [],
        description="Nodes by name that the job must not run on, in a pool whose nodes are always on.",
        examples=[["ip-10-0-12-34.us-west-2.compute.internal"]],
        bound="names of nodes of the Region, each once, in a pool whose nodes are always on; with the rest "
        "enough for the job",
        source="Kubernetes, well-known labels: kubernetes.io/hostname; karpenter v1.14, provisioner.Validate",
        codes=("RES061", "LIM003", "RES285"),
    )
    topology: JobTopology | None = Field(
        None,
        description="How close together the nodes are, in a pool with a topology; derived: as close as they fit.",
        examples=[{"required": "network-node-layer-2"}],
    )
    model: Model | None = Field(
        None,
        description="The size of the model, so that what its training takes is compared with the memory of the "
        "accelerators.",
        examples=[{"parameters": 8.03e9, "sharding": "full"}],
    )

    @property
    def least_nodes(self) -> int | None:
        """The fewest nodes with which it starts, where that is not all."""
        least = self.min_nodes
        if least is not None and least < self.nodes:
            return least
        return None

    @model_validator(mode="after")
    def _has_bounds(self) -> Self:
        least = self.min_nodes
        if least is not None and least > self.nodes:
            raise fault(
                f"`minNodes` {self.min_nodes} is above `nodes` {self.nodes}",
                f"write `minNodes: {self.nodes}`, or raise `nodes`",
                "minNodes",
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _by_launcher(cls, job: Any) -> Any:
        return filled(job)


class JobsSection(Section):
    """The jobs, and what they have in common."""

    job_defaults: dict[str, Any] = Field(
        {},
        description="Any keys of a job but `name`, `extends`, `rerun` and `completed`, for every job that does not say "
        "them itself.",
        examples=[{"image": "registry.example/train:1.4.2", "retries": 3}],
        bound="keys of a job but `name`, `extends`, `rerun`, `completed`; their values are bounded as those of "
        "a job",
        source="this language",
        codes=("SPC002",),
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
                }
            ]
        ],
    )
    completed_runs: Annotated[list[ObjectName], Distinct] = Field(
        [],
        description="The TrainJobs of earlier runs that have ended, so that what they needed may be removed.",
        examples=[["finetune-58ede"]],
        bound="names of TrainJobs, each once, that there were",
        source="this language",
        codes=("CHG005",),
    )
    labels: dict[JobLabelKey, LabelValue] = Field(
        {},
        description="Kubernetes labels of every job's TrainJob; a job's own labels win.",
        examples=[{"team": "research"}],
        bound="keys and values of Kubernetes' form; none that the compiler or a controller sets",
        source="Kubernetes, labels",
    )


SECTION = JobsSection
TEXTS = (TextKey(("jobs", None, "model", "config")),)
DOCUMENTS = {"TrainingJob": ("jobs", Job)}
