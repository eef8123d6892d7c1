"""The checkpoints of a job: how large they are, how long they take, and how often they are best saved.

A node fails as often as its GPUs do, by the catalog's usual failure rate: 419 unexpected interruptions of 54 days on
16,384 H100 are one in 50,677 hours of a GPU (Llama Team, AI @ Meta 2024, arXiv:2407.21783, section 3.3.4). Of nodes
without GPUs no such figure is known: a pool says its own.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Mapping
from typing import Any, NamedTuple

from trainyard.core.jobs.binding import mount_of
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.model import checkpoint_bytes
from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.core.jobs.spec import Mount
from trainyard.core.storage.storages import Storage, resolve_storage
from trainyard.core.storage.throughput import FSX, GP3, Sustained, peak, sustained, volumes
from trainyard.language.units import Duration
from trainyard.plan.context import Context

KEPT = 10
"""The checkpoints that are kept: `keep_latest_k` of TorchTitan, the reference for PyTorch's distributed checkpoints
(pytorch/torchtitan b5bcd76c, components/checkpointer/base.py)."""

_INTERVAL = "Young 1974; Daly 2006"
SIZE = "arXiv:1910.02054, section 3.1"
KEEPING = "pytorch/torchtitan b5bcd76c, keep_latest_k"

# A client without EFA reaches 100 Gbit/s of a file system (aws-fsx agent skill, 2026-04). Mountpoint takes the network
# bandwidth of the instance: here that of one network card.
_CARD_GBPS = 100
_MOUNTPOINT = "awslabs/mountpoint-s3 58817cab, CONFIGURATION.md"


class _Rate(NamedTuple):
    """MB/s, and what keeps it from being more."""

    speed: float
    bound: str


def schedule(
    context: Context, job: Job, stored: Mapping[str, Storage]
) -> CheckpointSchedule | None:
    """What the checkpoints of a job take; ``None`` without any. ``explain`` shows each figure that is known."""
    saves = job.spec.checkpoint
    if saves is None:
        return None
    at = job.at / "checkpoint"
    model = job.spec.model
    mount = mount_of(job.spec, saves.path)
    storage, folder = None, ""
    if isinstance(mount, Mount):
        storage = stored.get(mount.storage)
        folder = posixpath.relpath(saves.path, mount.path)
    node = CheckpointSchedule(
        at=job.at,
        name=job.spec.name,
        namespace=job.namespace,
        pool=job.pool.name,
        nodes=job.spec.nodes,
        path=saves.path,
        folder=folder,
        size=checkpoint_bytes(model) if model is not None else None,
        keep=saves.keep or KEPT,
        chosen=saves.keep is not None,
        asynchronous=saves.asynchronous,
        every=_seconds(saves.every),
        timeout=_seconds(job.spec.timeout),
        mtbf=_mtbf(context, job),
        **_place(job, storage),
        **_speeds(job, storage),
        origins={"path": at / "path", "every": at / "every", "keep": at / "keep"},
    )
    _explain(context, job, node, storage)
    return node


def write_seconds(context: Context, job: Job) -> float | None:
    """The seconds that one checkpoint of a job takes to write; ``None`` where its size or its storage is unknown."""
    saves = job.spec.checkpoint
    model = job.spec.model
    if saves is None or model is None:
        return None
    mount = mount_of(job.spec, saves.path)
    if not isinstance(mount, Mount):
        return None
    storage = context.once(resolve_storage).get(mount.storage)
    write, _ = _rates(job, storage)
    if write is None:
        return None
    return checkpoint_bytes(model) / (write.speed * 1000**2)


def _seconds(duration: Duration | None) -> int | None:
    if duration is not None:
        return duration.seconds
    return None


def _holder(job: Job, storage: Storage | None) -> str:
    """What holds the checkpoints: what two jobs have alike they share. Empty where each pod has its own."""
    if storage is None:
        return ""
    spec = storage.spec
    if spec.fsx_lustre is not None:
        return spec.file_system
    if spec.disk is not None and spec.disk.each == "pod":
        return ""
    if spec.ebs is not None:
        return f"{job.namespace}/{spec.name}"
    return spec.name


def _place(job: Job, storage: Storage | None) -> dict[str, Any]:
    """Where checkpoints lie, as far as it is known."""
    place: dict[str, Any] = {
        "storage": storage.spec.name if storage is not None else "",
        "file_system": "",
        "holder": _holder(job, storage),
        "deployment": "",
        "capacity": None,
        "peak_speed": None,
    }
    if storage is not None:
        fsx = storage.spec.fsx_lustre
    else:
        fsx = None
    if storage is not None and fsx is not None:
        most = peak(fsx)
        place["file_system"] = storage.spec.file_system
        place["deployment"] = fsx.deployment
        place["capacity"] = fsx.size.value
        place["peak_speed"] = most.disk if most is not None else None
    return place


def _speeds(job: Job, storage: Storage | None) -> dict[str, Any]:
    """How fast checkpoints are written and read, and what bounds that."""
    speeds: dict[str, Any] = {}
    rates = _rates(job, storage)
    for name, rate in zip(("write", "read"), rates, strict=True):
        speed = None
        bound = ""
        if rate is not None:
            speed = rate.speed
            bound = rate.bound
        speeds[f"{name}_speed"] = speed
        speeds[f"{name}_bound"] = bound
    return speeds


def _rates(job: Job, storage: Storage | None) -> tuple[_Rate | None, _Rate | None]:
    """How fast all nodes of a job together write to a storage, and read from it."""
    if storage is None:
        return None, None
    nodes = job.spec.nodes
    instance = job.pool.instance
    card = min(instance.network_gbps or _CARD_GBPS, _CARD_GBPS)
    if nodes > 1:
        whose = f"{nodes} nodes"
    else:
        whose = "the node"
    speed = nodes * card * 1000 / 8
    clients = _Rate(speed, f"the network of {whose}")
    if storage.spec.s3 is not None:
        return clients, clients
    disks = _of_disks(job, storage)
    if disks is None:
        return None, None
    bound = f"the disks of `{storage.spec.file_system}`"
    write = _Rate(disks.write, bound)
    read = _Rate(disks.read, bound)
    return min(write, clients), min(read, clients)


def _of_disks(job: Job, storage: Storage) -> Sustained | None:
    """What the disks of a storage write and read for all nodes of a job; ``None`` where that is not known."""
    fsx = storage.spec.fsx_lustre
    if fsx is not None:
        return sustained(fsx)
    ebs = storage.spec.ebs
    if ebs is None or ebs.create is None:
        return None
    # A volume for each namespace is for jobs of one node.
    return volumes(ebs.create, job.spec.nodes)


def _mtbf(context: Context, job: Job) -> int | None:
    """The seconds between two failures of any node of a job."""
    given = job.pool.spec.mean_time_between_failures
    gpus = job.pool.instance.gpus
    if given is not None:
        return given.seconds // job.spec.nodes
    if not gpus:
        return None
    seconds = context.catalog.failure_rates.usual.hours * 3600
    return int(seconds / (gpus * job.spec.nodes))


def _explain(context: Context, job: Job, node: CheckpointSchedule, storage: Storage | None) -> None:
    saves = job.spec.checkpoint
    at = job.at / "checkpoint"
    if saves is None or node.size is None:
        return
    model = job.at / "model"
    context.derive(
        job.target,
        "checkpoint.size",
        f"{node.size / 1024**3:,.1f} GiB",
        "weights and optimizer of what is trained, however they are sharded",
        SIZE,
        follows=model,
    )
    context.settle(
        job.target,
        "checkpoint.keep",
        saves.keep,
        node.keep,
        "as many as TorchTitan keeps",
        KEEPING,
        at=at / "keep",
    )
    for name, seconds, speed, bound in (
        ("write", node.write, node.write_speed, node.write_bound),
        ("read", node.read, node.read_speed, node.read_bound),
    ):
        if seconds is not None and speed is not None:
            context.derive(
                job.target,
                f"checkpoint.{name}",
                lasting(seconds),
                f"{speed:,.0f} MB/s, as fast as {bound.replace('`', '')}",
                _source(storage),
                follows=at / "path",
            )
    if node.best is not None:
        context.derive(
            job.target,
            "checkpoint.best",
            Duration(node.best),
            best_reason(node),
            f"{_INTERVAL}; {context.catalog.failure_rates.usual.source}",
            follows=at / "every",
        )


def _source(storage: Storage | None) -> str:
    """Where it stands how fast a storage is."""
    if storage is not None and storage.spec.ebs is not None:
        return GP3
    if storage is not None and storage.spec.s3 is not None:
        return _MOUNTPOINT
    return FSX


def best_reason(node: CheckpointSchedule) -> str:
    """Why an interval is the best one."""
    write = lasting(node.write or 0)
    mtbf = lasting(node.mtbf or 0)
    if node.ends_first:
        return (
            "half of the timeout: fewer saves cost less, and a failure must not cost the whole job"
        )
    if node.asynchronous:
        return f"training goes on while {write} are written: as often as the file system can, half of the time"
    return f"√(2 · {write} to write · {mtbf} between failures of {node.nodes} nodes): the least time is lost"


def lasting(seconds: float) -> str:
    """A time in words: whole seconds up to an hour, whole minutes up to a day, then whole hours."""
    if seconds >= 24 * 3600:
        unit = 3600
    elif seconds >= 3600:
        unit = 60
    else:
        unit = 1
    units = max(math.ceil(seconds / unit), 1)
    return str(Duration(units * unit))
