"""EBS volumes: the StorageClass and claims of a storage, and what jobs that mount it can do.

Sources: botocore 1.44.5 ec2 (CreateVolume Size, Iops, Throughput); EBS user guide, general-purpose (IOPS for each GiB,
MiB/s for each IOPS); aws-ebs-csi-driver v1.63.1, docs/parameters.md and docs/tagging.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from trainyard.catalog.ebs import DRIVER, refusals
from trainyard.core.network.zones import in_region
from trainyard.core.pools.pools import Pool
from trainyard.core.storage.kinds import CreatedDisk, ExistingDisk
from trainyard.core.storage.made import check_key
from trainyard.core.storage.plan import MadeSnapshots, PersistentVolume, VolumeClaim, VolumeClass
from trainyard.eks.settings.volumes import class_name
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.core.storage.storages import Storage

CLAIMS = "disks"
"""Where claims are written: Flux waits for nothing there, since a claim is bound when a pod needs it."""
_API = "EC2 API, CreateVolume (botocore 1.44.5)"
_GIB = 1024**3


class Part(Protocol):
    """Further nodes of a job, with its mounts."""

    @property
    def nodes(self) -> int:
        """How many they are."""


class Run(Protocol):
    """What is looked at of a job."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def nodes(self) -> int:
        """How many nodes it has."""

    @property
    def roles(self) -> Sequence[Part]:
        """What it runs on other nodes."""


def disk_nodes(context: Context, storage: Storage) -> Iterator[PlanItem]:
    """The StorageClass of a storage, and the snapshots of volumes that stay."""
    disk = storage.spec.disk
    at = storage.place
    assert disk is not None, "the storage is of EBS"
    _check(context, disk, at)
    check_key(context, disk.kms_key, at)
    if disk.zone is not None:
        in_region(context, disk.zone, at / "zone")
    reclaim = "Delete" if disk.each == "pod" else "Retain"
    yield VolumeClass(
        at=storage.at,
        name=class_name(storage.spec.name),
        driver=DRIVER,
        parameters=_parameters(context, storage, disk),
        binding="WaitForFirstConsumer",
        reclaim=reclaim,
        expansion=True,
        zones=(storage.zone,) if storage.zone else (),
        origins={
            "parameters": at,
            "parameters.iops": at / "iops",
            "parameters.throughput": at / "throughput",
            "parameters.kmsKeyId": at / "kmsKey",
            "zones": at / "zone",
            "reclaim": at / "each",
        },
    )
    if disk.snapshots is not None:
        yield MadeSnapshots(
            at=at / "snapshots",
            name=storage.spec.name,
            cluster=context.name,
            partition=context.partition,
            key=disk.kms_key,
            tags=_tags(context, storage),
            hours=disk.snapshots.every_hours,
            keep=disk.snapshots.keep,
        )


TAG = "trainyard-storage"


def tag(context: Context, name: str) -> str:
    """What the tag of a storage's volumes says."""
    return f"{context.name}.{name}"


def _tags(context: Context, storage: Storage) -> dict[str, str]:
    """The tags of a storage's volumes and snapshots."""
    own = {TAG: tag(context, storage.spec.name)}
    return {**context.spec.tags, **own}


def disk_claim(storage: Storage, disk: CreatedDisk, namespace: str) -> VolumeClaim:
    """The claim of a namespace on its volume."""
    return VolumeClaim(
        at=storage.at,
        name=storage.spec.name,
        namespace=namespace,
        volume="",
        size=disk.size,
        access_modes=_ONE_NODE,
        storage_class=class_name(storage.spec.name),
        folder=CLAIMS,
    )


def disk_volume(
    storage: Storage, disk: ExistingDisk, namespace: str
) -> tuple[PersistentVolume, VolumeClaim]:
    """A volume that exists, and the claim of the namespace that mounts it (aws-ebs-csi-driver v1.63.1,
    examples/kubernetes/static-provisioning). The driver knows it by its id alone."""
    name = f"{namespace}-{storage.spec.name}"
    at = storage.place
    volume = PersistentVolume(
        at=storage.at,
        name=name,
        driver=DRIVER,
        handle=disk.id,
        size=disk.size,
        access_modes=_ONE_NODE,
        claim_namespace=namespace,
        claim_name=storage.spec.name,
        zone=disk.zone,
        file_system=disk.file_system,
        origins={"size": at / "size", "zone": at / "zone"},
    )
    claim = VolumeClaim(
        at=storage.at,
        name=storage.spec.name,
        namespace=namespace,
        volume=name,
        size=disk.size,
        access_modes=_ONE_NODE,
    )
    return volume, claim


_ONE_NODE = ("ReadWriteOnce",)
_HANDLE = "core/v1 CSIPersistentVolumeSource volumeHandle, v1.35"


def check_existing(context: Context, storage: Storage, storages: Mapping[str, Storage]) -> None:
    """Whether a volume that exists can be here, and is that of one storage."""
    disk = storage.spec.existing_disk
    at = storage.place
    assert disk is not None, "the storage is a volume that exists"
    in_region(context, disk.zone, at / "zone")
    check_key(context, disk.kms_key, at)
    for other in storages.values():
        if other.spec.name == storage.spec.name:
            return
        if other.spec.existing_disk is not None and other.spec.existing_disk.id == disk.id:
            context.fault(
                "RES177",
                f"storages `{other.spec.name}` "
                f"and `{storage.spec.name}` are one volume, "
                f"`{disk.id}`",
                at / "id",
                "keep one of them, which jobs of one namespace mount",
                source=_HANDLE,
            )
            return


def check_namespaces(context: Context, storage: Storage, namespaces: Sequence[str]) -> None:
    """Whether jobs of one namespace alone mount a volume that exists: a PersistentVolume is bound to one claim, and two
    of them would attach and detach the same volume, each by itself."""
    disk = storage.spec.existing_disk
    if disk is None or len(namespaces) < 2:
        return
    context.fault(
        "RES177",
        f"jobs of namespaces {listed(namespaces)} mount volume `{disk.id}`, and one namespace can",
        storage.place / "id",
        "keep its jobs in one namespace, or take a file system, like `fsxLustre`",
        source=_HANDLE,
    )


def check_mount(
    context: Context, storage: Storage, job: Run, pools: Sequence[Pool], at: Route
) -> None:
    """Whether the nodes of a job, in any of its pools, can have the volumes of a storage."""
    disk = storage.spec.disk
    name = storage.spec.name
    if disk is not None and disk.each == "pod":
        return
    of_roles = sum(role.nodes for role in job.roles)
    nodes = job.nodes + of_roles
    if nodes > 1:
        context.fault(
            "RES181",
            f"job `{job.name}` has {nodes} nodes, and one node can have the volume of storage `{name}`",
            at,
            "take a storage with `each: pod`, or a file system of many nodes, like `fsxLustre`",
            source="EBS user guide, ebs-attaching-volume: Multi-Attach takes no volume of gp3",
        )
        return
    elsewhere = [pool for pool in pools if storage.zone not in (None, *pool.zones)]
    for pool in elsewhere:
        context.fault(
            "RES182",
            f"storage `{name}` is in `{storage.zone}`, "
            f"and job `{job.name}` in {listed(pool.zones)}"
            + (f", where pool `{pool.name}` is" if len(pools) > 1 else ""),
            at,
            "take a pool of that zone, or another storage",
            source="EBS user guide, ebs-volumes: a volume is attached in its own zone",
        )


def check_cache(context: Context, name: str, storages: Mapping[str, Storage], at: Route) -> None:
    """Whether the cache of a bucket can be held by the volumes of a storage."""
    place = at / "s3" / "cache" / "storage"
    storage = context.find("RES012", "storage", name, storages, place)
    if storage is None:
        return
    disk = storage.spec.disk
    if disk is None or disk.each != "pod":
        context.fault(
            "RES184",
            f"a cache is held by volumes that come and go with pods, and those of storage `{name}` do not",
            place,
            "take a storage with `ebs: {create: {each: pod}}`, or remove it: the cache is on the node's disks then",
            source="mountpoint-s3-csi-driver v2.7.0, docs/CACHING.md",
        )


def _parameters(context: Context, storage: Storage, disk: CreatedDisk) -> dict[str, str]:
    parameters = {"type": "gp3", "csi.storage.k8s.io/fstype": disk.file_system, "encrypted": "true"}
    if disk.iops is not None:
        parameters["iops"] = str(disk.iops)
    if disk.throughput is not None:
        parameters["throughput"] = str(disk.throughput)
    if disk.kms_key is not None:
        parameters["kmsKeyId"] = disk.kms_key
    tags = _tags(context, storage)
    pairs = sorted(tags.items())
    for number, (key, value) in enumerate(pairs, 1):
        parameters[f"tagSpecification_{number}"] = f"{key}={value}"
    return parameters


def _check(context: Context, disk: CreatedDisk, at: Route) -> None:
    gib, rest = divmod(disk.size.value, _GIB)
    if rest:
        context.fault(
            "RES180",
            f"a volume of `{disk.size}` has no whole number of GiB",
            at / "size",
            f"write `{gib + 1}Gi`",
            source=_API,
        )
        return
    for refusal in refusals(gib, disk.iops, disk.throughput):
        context.fault(
            "RES180", refusal.what, at / refusal.field, refusal.help, source=refusal.source
        )
    for key, asked in (("zone", disk.zone is not None), ("snapshots", disk.snapshots is not None)):
        if asked and disk.each == "pod":
            context.fault(
                "RES183",
                f"`{key}` is for a volume that stays, and these go with their pods",
                at / key,
                "remove it, or write `each: namespace`",
            )
