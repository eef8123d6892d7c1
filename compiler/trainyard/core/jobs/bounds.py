"""Checks of a job against its pool and storage: values that are valid alone and never work together."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.catalog import allocatable
from trainyard.core.jobs.binding import mount_of
from trainyard.core.jobs.flight_recorder import check_flight_recorder
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.model import checkpoint_bytes
from trainyard.core.jobs.spec import Mount
from trainyard.core.jobs.volumes import check_paths, check_volumes, larger_disks
from trainyard.core.pools.pools import Pool
from trainyard.core.pools.topology import levels_of
from trainyard.core.pools.windows import window
from trainyard.core.storage.storages import Storage
from trainyard.core.storage.throughput import peak
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.units import Duration, Quantity
from trainyard.plan.context import Context


def check_job(context: Context, job: Job, stored: Mapping[str, Storage]) -> None:
    """A job against its pool and its storage."""
    _block(context, job)
    _read_only(context, job, stored)
    _checkpoint(context, job, stored)
    check_flight_recorder(context, job, stored)
    _precision(context, job)
    _offload(context, job)
    _scratch(context, job)
    check_paths(context, job)
    _topology(context, job)
    _excluded(context, job)
    if job.pool.spec.gpu_sharing is not None:
        _one_share(context, job)


def _one_share(context: Context, job: Job) -> None:
    """A process uses one slice of MIG, and NCCL none of another's; of GPUs that take turns more than one share is no
    more time (NVIDIA MIG user guide, deployment considerations; k8s-device-plugin v0.20.0, time-slicing)."""
    own = job.spec.resources.accelerators
    nodes = job.spec.nodes
    pool = job.pool.name
    what = f"job `{job.spec.name}` runs on shares of GPUs, of pool `{pool}`,"
    help = "write `1`, or take a pool of whole GPUs: ranks cannot talk to each other from shares"
    if nodes > 1:
        context.fault(
            "RES174", f"{what} and has {nodes} nodes", job.at / "nodes", help, source=_MIG
        )
    if own is not None and own > 1:
        at = job.at / "resources" / "accelerators"
        context.fault("RES174", f"{what} and asks for {own}", at, help, source=_MIG)


_MIG = "NVIDIA MIG user guide, deployment considerations; NVIDIA/k8s-device-plugin v0.20.0, README"


def _read_only(context: Context, job: Job, stored: Mapping[str, Storage]) -> None:
    """A bucket that is only read is mounted so."""
    for index, mount in enumerate(job.spec.mounts):
        storage = stored.get(mount.storage)
        if storage is None or not storage.read_only or mount.is_read_only:
            continue
        context.fault(
            "RES425",
            f"job `{job.spec.name}` mounts storage `{mount.storage}` to write, which is only read",
            job.at / "mounts" / index,
            "write `readOnly: true` in the mount, or remove it from the storage",
        )


def _block(context: Context, job: Job) -> None:
    block = window(job.pool)
    timeout = job.spec.timeout
    if timeout is None or block is None or block.length is None:
        return
    launcher = job.pool.launcher
    left = Duration(block.length)
    if timeout > left:
        context.fault(
            "RES045",
            f"job `{job.spec.name}` may take {timeout}, "
            f"and its nodes go after {left}, "
            f"{launcher.block_notice} before the end of the Capacity Block of pool `{job.pool.name}`",
            job.at / "timeout",
            f"write at most `{left}`, or remove it: the end of the block is the limit",
            source=launcher.block_source,
        )


_STATE = "arXiv:1910.02054, section 3.1; FSx for Lustre user guide, ssd-storage"


def _checkpoint(context: Context, job: Job, stored: Mapping[str, Storage]) -> None:
    """Whether a checkpoint of the model fits its file system, and is written before the next one is due."""
    model = job.spec.model
    saves = job.spec.checkpoint
    if model is None or saves is None:
        return
    storage = _storage_of(job, saves.path, stored)
    if storage is not None:
        fsx = storage.spec.fsx_lustre
    else:
        fsx = None
    if storage is None or fsx is None:
        return
    name = storage.spec.file_system
    state = checkpoint_bytes(model)
    what = f"a checkpoint of `{job.spec.name}` has {_gib(state)}"
    if state > fsx.size.value:
        size = _gib(fsx.size.value)
        context.fault(
            "RES046",
            f"{what}, and its file system `{name}` {size}",
            job.at / "checkpoint" / "path",
            "save to a larger file system; two checkpoints must fit at once",
            source=_STATE,
        )
        return
    speed = peak(fsx)
    if speed is None or saves.every is None:
        return
    enough = _rounded(_writing(state, speed.disk))
    for mb, part, report in (
        (speed.network, "network", context.fault),
        (speed.disk, "disks", context.doubt),
    ):
        takes = _writing(state, mb)
        if takes > saves.every:
            report(
                "RES046",
                f"{what}, which takes {takes} to write at {mb:,.0f} MB/s, "
                f"the most that the {part} of `{name}` can, "
                f"and the next one is due after {saves.every}",
                job.at / "checkpoint" / "every",
                f"write at least `every: {enough}`, or take a faster file system",
                source=_STATE,
            )
            return


def _storage_of(job: Job, path: str, stored: Mapping[str, Storage]) -> Storage | None:
    """The storage that a path of the job's pods lies in."""
    mount = mount_of(job.spec, path)
    if isinstance(mount, Mount):
        return stored.get(mount.storage)
    return None


def _writing(size: int, speed: float) -> Duration:
    """How long so many bytes take at so many MB/s; a second at least."""
    seconds = int(size / 1e6 / speed)
    return Duration(max(seconds, 1))


def _rounded(takes: Duration) -> Duration:
    """Twice as long, in whole minutes: training goes on in between."""
    minutes = -(-2 * takes.seconds // 60)
    return Duration.minutes(minutes)


def _gib(count: int) -> str:
    return f"{count / 1024**3:,.0f} GiB"


def _topology(context: Context, job: Job) -> None:
    """Kueue passes over a flavor without the level that a job asks for (kueue v0.19.2, TAS)."""
    given = job.spec.topology
    if given is None:
        return
    levels = levels_of(job.pool)
    pool = job.pool
    if given.level in levels:
        _one_host(context, job)
        return
    if levels:
        has = f"has {listed(levels)}"
        help = f"write one of {listed(levels)}"
    elif pool.static:
        has = "has no topology"
        help = f"write `topology: network` in pool `{pool.name}`, or remove it here"
    else:
        has = "has no topology, for it scales"
        help = (
            f"write `nodes: {pool.nodes}` and `topology: network` in pool `{pool.name}`, "
            "or remove it here"
        )
    context.fault(
        "RES062",
        f"job `{job.spec.name}` asks for level `{given.level}`, and pool `{pool.name}` {has}",
        job.at / "topology" / given.chosen,
        help,
        source="kueue v0.19.2, topology-aware scheduling",
    )


def _one_host(context: Context, job: Job) -> None:
    """Pods of one host share its accelerators: where they ask for more, Kueue never admits them."""
    given = job.spec.topology
    on_host = job.pool.share.accelerators
    if given is None or given.required != "hostname":
        return
    if not on_host:
        return
    own = job.spec.resources.accelerators
    a_node = on_host if own is None else own
    asked = job.spec.nodes * a_node
    if asked > on_host:
        context.fault(
            "RES062",
            f"job `{job.spec.name}` requires one host "
            f"for {job.spec.nodes} nodes with {asked} accelerators, and a "
            f"host of pool `{job.pool.name}` has {on_host}",
            job.at / "topology" / "required",
            "write `preferred`, or a wider level",
            source="kueue v0.19.2, topology-aware scheduling",
        )


def _excluded(context: Context, job: Job) -> None:
    """Karpenter leaves alone every pod that names hosts: where it has to launch the nodes, nothing ever starts."""
    if job.spec.exclude_nodes and not job.pool.static:
        context.fault(
            "RES061",
            f"job `{job.spec.name}` excludes nodes "
            f"of pool `{job.pool.name}`, which scales: Karpenter launches "
            "nothing for a pod that names hosts",
            job.at / "excludeNodes",
            "remove it, and delete the sick node's NodeClaim: Karpenter launches another; or keep the nodes always "
            f"on (`nodes: {job.pool.nodes}`)",
            source="kubernetes-sigs/karpenter v1.14, provisioner.Validate: kubernetes.io/hostname is restricted",
        )
    region = context.spec.region
    for index, name in enumerate(job.spec.exclude_nodes):
        found = re.fullmatch(_PRIVATE_NAME, name)
        if found is not None and (found["region"] or "us-east-1") != region:
            context.fault(
                "RES285",
                f"`{name}` is a node of `{found['region'] or 'us-east-1'}`, and the cluster's are in `{region}`",
                job.at / "excludeNodes" / index,
                f"write a name that `kubectl get nodes` shows, like `ip-10-0-12-34.{region}.compute.internal`",
                source="EC2 user guide, ec2-instance-naming",
            )


# EC2 user guide, ec2-instance-naming: IP names, which have no Region in us-east-1.
_PRIVATE_NAME = r"ip(?:-\d{1,3}){4}\.(?:(?P<region>[a-z]{2}-[a-z-]+-\d)\.compute|ec2)\.internal"


# NVIDIA Transformer Engine, "Datatype and hardware support matrix": fp8 from compute capability 8.9 (Ada) on, bf16 from
# 8.0 (Ampere) on. Older GPUs compute bf16 in fp32, slowly (PyTorch pull request 148322); fp8 they refuse.
_BEFORE_AMPERE = ("V100", "T4", "T4g")
_BEFORE_ADA = (*_BEFORE_AMPERE, "A100", "A10G")
_TENSOR_CORES = "NVIDIA Transformer Engine, datatype and hardware support matrix"


def _precision(context: Context, job: Job) -> None:
    model = job.spec.model
    instance = job.pool.instance
    if model is None or "precision" not in model.model_fields_set:
        return
    name = instance.accelerator
    at = job.at / "model" / "precision"
    if model.precision == "fp8" and name in _BEFORE_ADA:
        instead = "`fp16`" if name in _BEFORE_AMPERE else "`bf16`"
        context.fault(
            "RES047",
            f"`{instance.name}` has {name} GPUs, which do not compute in fp8",
            at,
            f"write {instead}; `fp8` needs an L4, L40S, H100 or newer",
            source=_TENSOR_CORES,
        )
    elif model.precision == "bf16" and name in _BEFORE_AMPERE:
        context.doubt(
            "RES047",
            f"`{instance.name}` has {name} GPUs, which have no bf16 and compute it in fp32, slowly",
            at,
            "write `fp16`, or take a pool of A100 or newer",
            source=_TENSOR_CORES,
        )


def _offload(context: Context, job: Job) -> None:
    """Parameters are offloaded where each rank has a part of them. Of DeepSpeed's configuration RES197 says it."""
    model = job.spec.model
    if model is None or model.offload != "parameters" or job.spec.deepspeed is not None:
        return
    if model.sharding != "full":
        context.fault(
            "RES457",
            f"`sharding` is `{model.sharding}`, and parameters are offloaded where they are sharded",
            job.at / "model" / "offload",
            "write `sharding: full`, or `offload: optimizer`",
            source="DeepSpeed, configuration: offload_param is valid with stage 3 alone; PyTorch 2.8, FSDP CPUOffload",
        )


def _storage_gib(pool: Pool) -> int | None:
    """The file system that holds images, logs and emptyDirs: all NVMe disks, or the root volume; ``None`` where nobody
    says how large it is."""
    if pool.launcher.disks_at:
        return None
    if pool.local_storage == "raid0":
        size = pool.instance.nvme_gb * 10**9
        return size // 1024**3
    return pool.root_size.value // 1024**3


def _scratch(context: Context, job: Job) -> None:
    """core/v1: a pod that asks for more ephemeral storage than a node has is never placed."""
    asked = job.spec.resources.ephemeral_storage
    storage_gib = _storage_gib(job.pool)
    most = None
    if storage_gib is not None:
        left = allocatable(job.pool.instance, huge_pages=False, storage_gib=storage_gib)
        most = Quantity.gib(left.ephemeral_gib)
    check_volumes(context, job, most)
    if asked is not None and most is not None and asked > most:
        context.fault(
            "RES048",
            f"job `{job.spec.name}` asks "
            f"for {asked} of `ephemeral-storage`, and pods can get "
            f"{most} of a node of pool `{job.pool.name}`",
            job.at / "resources" / "ephemeralStorage",
            f"ask for at most `{most}`, or {larger_disks(job.pool)}",
            source="Kubernetes, local ephemeral storage",
        )
