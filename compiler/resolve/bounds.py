"""Values that contradict each other, or a fact: each could be written alone, together they never work."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from compiler.catalog import allocatable, max_pods
from compiler.dataclass import dataclass
from compiler.plan.units import Duration, Quantity
from compiler.resolve.binding import Job, mount_of
from compiler.resolve.context import SPEC, Context
from compiler.resolve.controllers import Needs, needs
from compiler.resolve.model import checkpoint_bytes
from compiler.resolve.nodes import node_role
from compiler.resolve.pools import Pool
from compiler.resolve.share import ROOT_GIB
from compiler.resolve.storage import Storage
from compiler.source import Route
from compiler.spec.nodes import Capacity
from compiler.spec.storage import FsxLustre

_RESERVATION = "EC2 API, CapacityReservation (2016-11-15)"
_REQUESTS = (
    "values.yaml of the charts of kueue v0.19.2, jobset v0.12.0 and karpenter v1.14.1"
)


def check_pools(context: Context, pools: Mapping[str, Pool]) -> None:
    """Everything about pools that is wrong by itself or beside another."""
    for pool in pools.values():
        _one_zone(context, pool)
        _spread(context, pool)
        _disks(context, pool)
    _reservations(context, pools)


def _one_zone(context: Context, pool: Pool) -> None:
    """A reservation, a Capacity Block too, lies in one zone (EC2 API, CapacityReservation AvailabilityZone)."""
    ids = pool.spec.capacity.ids
    if len(ids) == 1 and len(pool.zones) > 1:
        context.fault(
            "RES039",
            f"reservation `{ids[0]}` of pool `{pool.name}` lies in one zone, and the pool is in "
            f"{len(pool.zones)}",
            pool.at / "zones",
            "write `zone:` with the one that the reservation is in",
            source=_RESERVATION,
        )


def _reservations(context: Context, pools: Mapping[str, Pool]) -> None:
    """A reservation is of one type, in one zone, of one kind, and has one start and one end."""
    seen: dict[str, Pool] = {}
    for pool in pools.values():
        for id in pool.spec.capacity.ids:
            before = seen.setdefault(id, pool)
            apart = _apart(before, pool)
            if apart is not None:
                key = "id" if pool.spec.capacity.id else "reservations"
                context.fault(
                    "RES039",
                    f"reservation `{id}` is of {apart[0]} in pool `{before.name}` and of "
                    f"{apart[1]} in pool `{pool.name}`",
                    pool.at / "capacity" / key,
                    f"write the reservation of pool `{pool.name}`: `aws ec2 describe-capacity-reservations` "
                    "shows the type and zone of each",
                    source=_RESERVATION,
                )


def _apart(one: Pool, other: Pool) -> tuple[str, str] | None:
    """What two pools say of one reservation, where it is not the same."""
    if one.instance.name != other.instance.name:
        return f"`{one.instance.name}`", f"`{other.instance.name}`"
    if not set(one.zones) & set(other.zones):
        return f"zone `{one.zones[0]}`", f"zone `{other.zones[0]}`"
    kinds = tuple(each.spec.capacity.type for each in (one, other))
    if kinds[0] != kinds[1]:
        return f"type `{kinds[0]}`", f"type `{kinds[1]}`"
    ends = tuple(each.spec.capacity.ends for each in (one, other))
    if all(ends) and ends[0] != ends[1]:
        return f"an end at {ends[0]}", f"an end at {ends[1]}"
    return None


# EC2 user guide, placement-strategies: running instances a zone of a group of strategy `spread`, racks apart (the only
# spread that there is outside of Outposts).
_SPREAD = 7


def _spread(context: Context, pool: Pool) -> None:
    most = _SPREAD * len(pool.zones)
    if pool.placement == "spread" and pool.nodes > most:
        context.fault(
            "RES040",
            f"pool `{pool.name}` has up to {pool.nodes} nodes, and a placement group of strategy "
            f"`spread` has at most {_SPREAD} a zone",
            pool.at / "placement",
            f"write `placement: cluster` or `partition`, or at most `max: {most}`",
            source="EC2 user guide, placement-strategies",
        )


def _disks(context: Context, pool: Pool) -> None:
    if pool.spec.local_storage == "raid0" and not pool.instance.nvme_gb:
        context.fault(
            "RES041",
            f"`{pool.instance.name}` has no NVMe disks",
            pool.at / "localStorage",
            "remove it: images and logs lie on the root volume, whose size `rootVolume` says",
            source="EC2 API, InstanceTypeInfo InstanceStorageInfo",
        )


def check_system(context: Context) -> None:
    """Whether the system's nodes have room for what runs on them."""
    system, at = context.spec.system, SPEC / "system"
    instance = context.catalog.instance(system.instance_type)
    if instance is None or instance.accelerators:
        return
    each = allocatable(instance, huge_pages=False, vm_overhead=0)
    wanted: Needs = needs(context, instance, system.nodes)
    for what, unit, have, need in (
        ("CPU", "m", each.cpu_milli * system.nodes, wanted.cpu_milli),
        ("memory", "Mi", each.memory_mib * system.nodes, wanted.memory_mib),
        ("pods", "", max_pods(instance) * system.nodes, wanted.pods),
    ):
        if have < need:
            context.fault(
                "RES042",
                f"{system.nodes} nodes of `{instance.name}` have {have}{unit} {what} for pods, and "
                f"the controllers on them ask for {need}{unit}",
                at / "instanceType",
                "take a larger type, like `m7i.2xlarge`, or more `nodes`",
                source=_REQUESTS,
            )
            return
    if each.cpu_milli < wanted.each_cpu or each.memory_mib < wanted.each_memory:
        context.fault(
            "RES042",
            f"a node of `{instance.name}` has {each.cpu_milli}m CPU and {each.memory_mib}Mi for "
            f"pods, and Karpenter with the node's agents asks for {wanted.each_cpu}m and "
            f"{wanted.each_memory}Mi",
            at / "instanceType",
            "take a larger type, like `m7i.2xlarge`",
            source=_REQUESTS,
        )


def check_principals(context: Context) -> None:
    """Principals of another partition, and the one that is the nodes' own."""
    own = f"arn:{context.partition}:iam::{context.spec.account}:role/{node_role(context.name)}"
    found = [
        (SPEC / "admins" / index, arn) for index, arn in enumerate(context.spec.admins)
    ]
    for place, namespace in enumerate(context.spec.namespaces):
        here = SPEC / "namespaces" / place / "principals"
        found += [(here / index, arn) for index, arn in enumerate(namespace.principals)]
    for at, arn in found:
        partition = arn.split(":")[1]
        if partition != context.partition:
            context.fault(
                "RES043",
                f"`{arn}` is of partition `{partition}`, and region `{context.spec.region}` of "
                f"`{context.partition}`",
                at,
                f"write a principal of it: `arn:{context.partition}:iam::...`",
                source="EKS API, CreateAccessEntry",
            )
        elif arn == own:
            context.fault(
                "RES043",
                f"`{arn}` is the role of the nodes, which has an access entry of its own",
                at,
                "name the role or user of a person: EKS takes one access entry a principal",
                source="EKS API, CreateAccessEntry",
            )


def check_file_systems(context: Context) -> None:
    """What two storages say of one file system, and what no file system of a deployment is."""
    seen: dict[str, tuple[Route, FsxLustre]] = {}
    for index, each in enumerate(context.spec.storage):
        fsx, at = each.fsx_lustre, SPEC / "storage" / index / "fsxLustre"
        if fsx is None:
            continue
        _deployment(context, fsx, at)
        where, before = seen.setdefault(fsx.id, (at, fsx))
        for key, one, other in (
            ("mountName", before.mount_name, fsx.mount_name),
            ("zone", before.zone, fsx.zone),
            ("size", str(before.size), str(fsx.size)),
        ):
            if one and other and one != other:
                context.fault(
                    "RES044",
                    f"file system `{fsx.id}` has `{key}: {other}` here and `{one}` in `{where}`",
                    at / key,
                    "write what `aws fsx describe-file-systems` shows, or the id of the other one",
                    source="FSx API, CreateFileSystem and LustreFileSystemConfiguration",
                )


def _deployment(context: Context, fsx: FsxLustre, at: Route) -> None:
    """FSx API, FileSystemTypeVersion and MountName (botocore 1.44.5)."""
    if fsx.deployment == "PERSISTENT_2" and fsx.version == "2.10":
        context.fault(
            "RES044",
            "no PERSISTENT_2 file system is Lustre `2.10`",
            at / "version",
            'write `version: "2.12"` or `"2.15"`, or the `deployment:` that it has',
            source="FSx API, CreateFileSystem and LustreFileSystemConfiguration",
        )
    if fsx.deployment == "SCRATCH_1" and fsx.mount_name != "fsx":
        context.fault(
            "RES044",
            f"the MountName of a SCRATCH_1 file system is always `fsx`, not `{fsx.mount_name}`",
            at / "mountName",
            "write `mountName: fsx`, or the `deployment:` that it has",
            source="FSx API, CreateFileSystem and LustreFileSystemConfiguration",
        )


def check_job(context: Context, job: Job, stored: Mapping[str, Storage]) -> None:
    """A job against its pool and its storage."""
    _block(context, job)
    _checkpoint(context, job, stored)
    _precision(context, job)
    _scratch(context, job)


_DRAIN = Duration.minutes(
    40
)  # karpenter v1.14.1, capacityreservation/expiration: nodes of a block go so long before


def _block(context: Context, job: Job) -> None:
    length, timeout = _seconds(job.pool.spec.capacity), job.spec.timeout
    if timeout is None or length is None:
        return
    left = Duration(max(length - _DRAIN.seconds, 0))
    if timeout > left:
        context.fault(
            "RES045",
            f"job `{job.spec.name}` may take {timeout}, and its nodes go after {left}, {_DRAIN} "
            f"before the end of the Capacity Block of pool `{job.pool.name}`",
            job.at / "timeout",
            f"write at most `{left}`, or remove it: the end of the block is the limit",
            source="EC2 user guide, Capacity Blocks; karpenter v1.14.1, capacityreservation/expiration",
        )


def _seconds(capacity: Capacity) -> int | None:
    """How long a block lasts, where the spec says it."""
    if capacity.starts is None or capacity.ends is None:
        return None
    return int(
        (
            datetime.fromisoformat(capacity.ends)
            - datetime.fromisoformat(capacity.starts)
        ).total_seconds()
    )


@dataclass(frozen=True, slots=True)
class _Speed:
    """How fast a file system writes at most, in MB/s for each TiB: to its disks, and through its network, which LZ4
    compression may fill."""

    disk: int
    network: int


# FSx for Lustre user guide, ssd-storage, and performance.md before it (awsdocs/amazon-fsx-lustre-user-guide c55836f):
# the larger of baseline and burst. Of SCRATCH_1 the disks alone are known. `None`: the spec does not say which.
_SSD_1, _SSD_2 = _Speed(240, 1300), _Speed(500, 1300)
_SPEEDS: Mapping[str, Mapping[int | None, _Speed]] = {
    "SCRATCH_1": {None: _Speed(200, 1300)},
    "SCRATCH_2": {None: _Speed(200, 1300)},
    "PERSISTENT_1": {
        12: _Speed(50, 375),
        40: _Speed(150, 1300),
        50: _SSD_1,
        100: _SSD_1,
        200: _SSD_1,
        None: _SSD_1,
    },
    "PERSISTENT_2": {
        125: _SSD_2,
        250: _SSD_2,
        500: _SSD_2,
        1000: _Speed(1000, 2600),
        None: _Speed(1000, 2600),
    },
}
_STATE = "arXiv:1910.02054, section 3.1; FSx for Lustre user guide, ssd-storage"


def _checkpoint(context: Context, job: Job, stored: Mapping[str, Storage]) -> None:
    """Whether a checkpoint of the model fits its file system, and is written before the next one is due."""
    model, saves = job.spec.model, job.spec.checkpoint
    mount = mount_of(job.spec, saves.path) if saves is not None else None
    storage = stored.get(mount.storage) if mount is not None else None
    fsx = storage.spec.fsx_lustre if storage is not None else None
    if model is None or saves is None or fsx is None:
        return
    state = checkpoint_bytes(model)
    what = f"a checkpoint of `{job.spec.name}` has {_gib(state)}"
    if state > fsx.size.value:
        context.fault(
            "RES046",
            f"{what}, and its file system `{fsx.id}` {_gib(fsx.size.value)}",
            job.at / "checkpoint" / "path",
            "save to a larger file system; two checkpoints must fit at once",
            source=_STATE,
        )
        return
    speed = _SPEEDS[fsx.deployment].get(fsx.throughput_per_tib)
    if speed is None or saves.every is None:
        return
    tib = fsx.size.value / 1024**4
    enough = _rounded(_writing(state, speed.disk * tib))
    for most, of, report in (
        (speed.network, "network", context.fault),
        (speed.disk, "disks", context.doubt),
    ):
        takes = _writing(state, most * tib)
        if takes > saves.every:
            report(
                "RES046",
                f"{what}, which takes {takes} to write at {most * tib:,.0f} MB/s, the most that the {of} "
                f"of `{fsx.id}` can, and the next one is due after {saves.every}",
                job.at / "checkpoint" / "every",
                f"write at least `every: {enough}`, or take a faster file system",
                source=_STATE,
            )
            return


def _writing(size: int, speed: float) -> Duration:
    """How long so many bytes take at so many MB/s; a second at least."""
    return Duration(max(int(size / 1e6 / speed), 1))


def _rounded(takes: Duration) -> Duration:
    """Twice as long, in whole minutes: training goes on in between."""
    return Duration.minutes(-(-2 * takes.seconds // 60))


def _gib(count: int) -> str:
    return f"{count / 1024**3:,.0f} GiB"


# NVIDIA Transformer Engine, "Datatype and hardware support matrix": fp8 from compute capability 8.9 (Ada) on, bf16 from
# 8.0 (Ampere) on. Older GPUs compute bf16 in fp32, slowly (PyTorch pull request 148322); fp8 they refuse.
_BEFORE_AMPERE = ("V100", "T4", "T4g")
_BEFORE_ADA = (*_BEFORE_AMPERE, "A100", "A10G")
_TENSOR_CORES = "NVIDIA Transformer Engine, datatype and hardware support matrix"


def _precision(context: Context, job: Job) -> None:
    model, instance = job.spec.model, job.pool.instance
    if model is None or "precision" not in model.model_fields_set:
        return
    name, at = instance.accelerator, job.at / "model" / "precision"
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
            f"`{instance.name}` has {name} GPUs, which have no bf16 and compute it in fp32, "
            "slowly",
            at,
            "write `fp16`, or take a pool of A100 or newer",
            source=_TENSOR_CORES,
        )


def _storage_gib(pool: Pool) -> int:
    """The file system that holds images, logs and emptyDirs: all NVMe disks, or the root volume."""
    if pool.local_storage == "raid0":
        return pool.instance.nvme_gb * 10**9 // 1024**3
    return (
        pool.spec.root_volume.size.value // 1024**3
        if pool.spec.root_volume
        else ROOT_GIB[pool.local_storage]
    )


def _scratch(context: Context, job: Job) -> None:
    """core/v1: a pod that asks for more ephemeral storage than a node has is never placed."""
    asked = job.spec.resources.ephemeral_storage
    left = allocatable(
        job.pool.instance, huge_pages=False, storage_gib=_storage_gib(job.pool)
    )
    there = Quantity.gib(left.ephemeral_gib)
    if asked is not None and asked > there:
        context.fault(
            "RES048",
            f"job `{job.spec.name}` asks for {asked} of `ephemeral-storage`, and pods can get "
            f"{there} of a node of pool `{job.pool.name}`",
            job.at / "resources" / "ephemeralStorage",
            f"ask for at most `{there}`, or give the pool a larger `rootVolume`",
            source="Kubernetes, local ephemeral storage",
        )
