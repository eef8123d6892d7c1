"""Storage that the bootstrap creates: what the spec asks for, all that follows from it, and AWS's limits.

Sources: botocore 1.44.5 fsx (CreateFileSystem, CreateDataRepositoryAssociation), the FSx for Lustre user guide, and the
S3 user guide.
"""

from __future__ import annotations

from trainyard.core.network.spec import NetworkSection
from trainyard.core.pools.pools import resolve_pools, zones_of_faulty_pools
from trainyard.core.storage.kinds import CreatedBucket, CreatedLustre, Transition
from trainyard.core.storage.plan import EFA_STEP, MadeBucket, MadeFileSystem
from trainyard.core.storage.repositories import repositories
from trainyard.core.storage.spec import StorageSection
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import Context

_API = "FSx API, CreateFileSystemLustreConfiguration (botocore 1.44.5)"
_GUIDE = "FSx for Lustre user guide"
_RULES = "S3 user guide, lifecycle-transition-general-considerations"
_GIB = 1024**3
_LONGEST_NAME = 63 - len("trainyard-storage-")

_FEW_IOPS, _IOPS_STEP, _MOST_IOPS = (1500, 3000, 6000), 12000, 192000
# What an object of each class may move to, and how long it stays in the standard class at least.
_AFTER = {
    "STANDARD_IA": ("INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"),
    "INTELLIGENT_TIERING": ("ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"),
    "ONEZONE_IA": ("GLACIER", "DEEP_ARCHIVE"),
    "GLACIER_IR": ("GLACIER", "DEEP_ARCHIVE"),
    "GLACIER": ("DEEP_ARCHIVE",),
    "DEEP_ARCHIVE": (),
}
_ARCHIVES = ("GLACIER", "DEEP_ARCHIVE")
_LONG_USED = 90
"""Days in which a job may still read what another one wrote; S3 bills an archived object for 90 at least."""
_LEAST_DAYS = {"STANDARD_IA": 30, "ONEZONE_IA": 30}


def made_bucket(
    context: Context, name: str, bucket: str, spec: CreatedBucket, at: Route
) -> MadeBucket:
    """The bucket of a storage; what S3 would refuse of it is reported."""
    _bucket_name(context, name, bucket, spec, at)
    check_key(context, spec.kms_key, at)
    _uploads(context, spec, at / "upload")
    lifecycle = spec.lifecycle
    here = at / "lifecycle"
    noncurrent = lifecycle.noncurrent_days
    if not spec.versioning and noncurrent is not None:
        context.fault(
            "RES127",
            f"bucket `{bucket}` keeps no versions, and `noncurrentDays: {noncurrent}` ends those that are not current",
            here / "noncurrentDays",
            "remove it, or `versioning: false`",
            source="S3 user guide, lifecycle-configuration-examples",
        )
    if spec.versioning:
        noncurrent = context.settle(
            f"storage/{name}",
            "lifecycle.noncurrentDays",
            noncurrent,
            30,
            "versions that nobody reads are paid for like current ones",
            at=here / "noncurrentDays",
        )
    _transitions(context, lifecycle.transitions, here / "transitions")
    return MadeBucket(
        at=at,
        name=name,
        cluster=context.name,
        key=spec.kms_key,
        tags=_tags(context, name),
        bucket=bucket,
        partition=context.partition,
        versioning=spec.versioning,
        noncurrent_days=noncurrent,
        upload_days=lifecycle.incomplete_upload_days,
        transitions=tuple((move.days, move.to) for move in lifecycle.transitions),
        uploads=tuple((each.folder, each.to) for each in spec.upload),
        origins={
            "uploads": at / "upload",
            "bucket": at / "bucket",
            "versioning": at / "versioning",
            "key": at / "kmsKey",
            "transitions": here,
        },
    )


def _uploads(context: Context, spec: CreatedBucket, at: Route) -> None:
    for index, upload in enumerate(spec.upload):
        place = at / index / "folder"
        text = context.texts.get(place)
        if text is not None and not text.there:
            context.doubt(
                "RES504",
                f"there is no folder `{upload.folder}` in this repository to upload",
                place,
                "write its path from the root of the repository, or commit the folder",
            )


def _tags(context: Context, name: str) -> dict[str, str]:
    return {**context.spec.tags, "trainyard-storage": f"{context.name}.{name}"}


def _bucket_name(context: Context, name: str, bucket: str, spec: CreatedBucket, at: Route) -> None:
    if spec.bucket is None:
        context.derive(
            f"storage/{name}",
            "bucket",
            bucket,
            "a bucket's name is its own in all accounts, so it holds the account and the Region",
            "S3 user guide, bucketnamingrules",
        )
    cluster = context.name
    account = context.spec.account
    for other in StorageSection.of(context.spec).storage:
        if other.name == name:
            continue
        if other.bucket(cluster, account, context.spec.region) == bucket:
            context.fault(
                "RES126",
                f"storage `{name}` would make bucket `{bucket}`, which storage `{other.name}` has",
                at / "bucket",
                "give it another name, or mount the one bucket with two prefixes",
                source="S3 user guide, bucketnamingrules",
            )


def _transitions(context: Context, moves: list[Transition], at: Route) -> None:
    for index, move in enumerate(moves):
        least = _LEAST_DAYS.get(move.to, 0)
        if move.days < least:
            context.fault(
                "RES127",
                f"objects move to {move.to} after {move.days} days, and S3 moves none there before {least}",
                at / index / "days",
                f"write `days: {least}` or more",
                source=_RULES,
            )
        if move.to in _ARCHIVES and move.days < _LONG_USED:
            context.doubt(
                "RES282",
                f"objects move to {move.to} after {move.days} days, where no job can read them",
                at / index / "to",
                "write `GLACIER_IR` or `INTELLIGENT_TIERING`, or the days after which nobody reads them any more",
                source="Mountpoint for Amazon S3, semantics: archived objects; S3 user guide, restoring-objects",
            )
        if not index:
            continue
        before = moves[index - 1]
        if move.to not in _AFTER[before.to]:
            known = listed(_AFTER[before.to]) or "no other"
            context.fault(
                "RES127",
                f"objects move from {before.to} to {move.to}, which S3 does not do",
                at / index / "to",
                f"after {before.to} there is {known}",
                source=_RULES,
            )
        elif move.days <= before.days:
            context.fault(
                "RES127",
                f"objects move to {move.to} after {move.days} days, "
                f"and to {before.to} after {before.days}",
                at / index / "days",
                f"write more than {before.days}: each class comes after the one before it",
                source=_RULES,
            )


def check_key(context: Context, key: str | None, at: Route) -> None:
    """A key serves its own Region (KMS developer guide, multi-Region keys have an ARN in each)."""
    if key is None:
        return
    region = key.split(":")[3]
    if region != context.spec.region:
        context.fault(
            "RES121",
            f"the KMS key is in `{region}`, and what it would encrypt in `{context.spec.region}`",
            at / "kmsKey",
            f"take a key of {context.spec.region}",
            source="KMS developer guide, key ARN",
        )


def _check_name(context: Context, name: str, at: Route) -> None:
    if len(name) > _LONGEST_NAME:
        context.fault(
            "RES129",
            f"the name `{name}` has {len(name)} characters, and a file system that is made has one of {_LONGEST_NAME} "
            "at most",
            at.parent.parent / "name",
            "shorten it: the name of its Kustomization is the value of a label",
            source="kustomize-controller v1.10, kustomize.toolkit.fluxcd.io/name; Kubernetes, label values",
        )


def _metadata_mode(context: Context, name: str, spec: CreatedLustre) -> str | None:
    """The mode of the metadata configuration; FSx requires one for a file system with EFA."""
    if spec.metadata is not None:
        return spec.metadata.mode
    if not spec.efa:
        return None
    mode = "AUTOMATIC"
    context.derive(
        f"storage/{name}",
        "metadata.mode",
        mode,
        "a file system with EFA has a metadata configuration",
        _GUIDE,
    )
    return mode


def made_file_system(context: Context, name: str, spec: CreatedLustre, at: Route) -> MadeFileSystem:
    """The file system of a storage; what FSx would refuse of it is reported."""
    _check_name(context, name, at)
    _features(context, spec, at)
    check_key(context, spec.kms_key, at)
    _efa(context, spec, at)
    _metadata(context, spec, at)
    _backups(context, spec, at)
    zone = _zone(context, name, spec, at)
    vpc, subnet = _subnet(context, zone, at)
    metadata, backups = spec.metadata, spec.backups
    mode = _metadata_mode(context, name, spec)
    return MadeFileSystem(
        at=at,
        name=name,
        cluster=context.name,
        key=spec.kms_key,
        tags=_tags(context, name),
        deployment=spec.deployment,
        size=spec.size.value // _GIB,
        zone=zone,
        version=spec.version,
        throughput=spec.throughput_per_tib,
        disks=spec.disks,
        drive_cache=spec.drive_cache,
        compression=spec.compression,
        metadata=mode,
        iops=metadata.iops if metadata else None,
        efa=spec.efa,
        backup_days=backups.days if backups else 0,
        backup_time=backups.at if backups else None,
        maintenance=spec.maintenance,
        vpc=vpc,
        subnet=subnet,
        nodes=context.answers.nodes_export(context),
        repositories=repositories(context, spec, at),
        origins={
            "deployment": at / "deployment",
            "size": at / "size",
            "zone": at / "zone",
            "version": at / "version",
            "throughput": at / "throughputPerTiB",
            "drive_cache": at / "driveCache",
            "compression": at / "compression",
            "metadata": at / "metadata",
            "efa": at / "efa",
            "backup_days": at / "backups" / "days",
            "backup_time": at / "backups" / "at",
            "maintenance": at / "maintenance",
            "key": at / "kmsKey",
        },
    )


def _features(context: Context, spec: CreatedLustre, at: Route) -> None:
    """What only some deployments have, or need."""
    is_scratch = spec.deployment.startswith("SCRATCH")
    if not is_scratch and spec.throughput_per_tib is None:
        context.fault(
            "RES120",
            f"a {spec.deployment} file system needs its throughput",
            at,
            "add `throughputPerTiB:`, like 125 of PERSISTENT_2 or 100 of PERSISTENT_1: it is paid for by the TiB",
            source=_API,
        )
    if is_scratch and spec.kms_key is not None:
        context.fault(
            "RES121",
            "a scratch file system is encrypted by a key of FSx, and by no other",
            at / "kmsKey",
            "remove it, or take a persistent deployment",
            source="FSx API, CreateFileSystem KmsKeyId (botocore 1.44.5)",
        )
    if spec.deployment == "PERSISTENT_2" and spec.version == "2.10":
        context.fault(
            "RES121",
            "no PERSISTENT_2 file system is Lustre `2.10`",
            at / "version",
            'write `version: "2.15"`, or remove it',
            source="FSx API, CreateFileSystem FileSystemTypeVersion (botocore 1.44.5)",
        )
    if spec.disks and spec.drive_cache is None:
        context.fault(
            "RES121",
            f"a file system of disks ({spec.throughput_per_tib} MB/s for each TiB) needs its cache",
            at,
            "add `driveCache: READ`, or `NONE`",
            source=_API,
        )
    if not spec.disks and spec.drive_cache is not None:
        context.fault(
            "RES121",
            "only a PERSISTENT_1 file system of disks has a drive cache",
            at / "driveCache",
            "remove it, or write `throughputPerTiB: 12` or `40` of PERSISTENT_1",
            source=_API,
        )
    is_asked = (("efa", spec.efa), ("metadata", spec.metadata is not None))
    for key, asked in is_asked:
        if asked and spec.deployment != "PERSISTENT_2":
            context.fault(
                "RES121",
                f"a {spec.deployment} file system has no `{key}`",
                at / key,
                "write `deployment: PERSISTENT_2`, or remove it",
                source=_API,
            )
        elif asked and spec.version != "2.15":
            context.fault(
                "RES121",
                f"a file system with `{key}` is Lustre `2.15`, not `{spec.version}`",
                at / "version",
                'write `version: "2.15"`, or remove it',
                source="FSx API, CreateFileSystem FileSystemTypeVersion (botocore 1.44.5)",
            )


def _efa(context: Context, spec: CreatedLustre, at: Route) -> None:
    step = EFA_STEP.get(spec.throughput_per_tib or 0)
    if not spec.efa or step is None:
        return
    if spec.deployment != "PERSISTENT_2":
        return
    size = spec.size.value // _GIB
    if size % step:
        below = size // step * step
        above = (size // step + 1) * step
        steps = [gib for gib in (below, above) if gib]
        nearest = [f"`{gib}Gi`" for gib in steps]
        context.fault(
            "RES122",
            f"a file system with EFA at {spec.throughput_per_tib} MB/s for each TiB has a multiple of {step} GiB, not "
            f"{size}",
            at / "size",
            f"write {' or '.join(nearest)}, or another throughput",
            source=f"{_GUIDE}, increase-storage-capacity",
        )


def _metadata(context: Context, spec: CreatedLustre, at: Route) -> None:
    metadata = spec.metadata
    if metadata is None or spec.deployment != "PERSISTENT_2":
        return
    here = at / "metadata"
    iops = metadata.iops
    if metadata.mode == "AUTOMATIC":
        if iops is not None:
            context.fault(
                "RES123",
                f"FSx sets the metadata IOPS of mode AUTOMATIC, and `iops: {iops}` is refused",
                here / "iops",
                "remove it, or write `mode: USER_PROVISIONED`",
                source="FSx API, CreateFileSystemLustreMetadataConfiguration (botocore 1.44.5)",
            )
        return
    few = iops in _FEW_IOPS
    if iops is None:
        context.fault(
            "RES123",
            "the metadata IOPS of mode USER_PROVISIONED are not set",
            here,
            "add `iops:`, like 6000, or remove `mode:`",
        )
    elif not few and (iops % _IOPS_STEP or not 0 < iops <= _MOST_IOPS):
        context.fault(
            "RES123",
            f"no file system has {iops} metadata IOPS",
            here / "iops",
            "write 1500, 3000, 6000, or a multiple of 12000 up to 192000",
            source="FSx API, CreateFileSystemLustreMetadataConfiguration (botocore 1.44.5)",
        )


def _backups(context: Context, spec: CreatedLustre, at: Route) -> None:
    backups = spec.backups
    here = at / "backups"
    if backups is None:
        return
    if not backups.days:
        if backups.at is not None:
            context.fault(
                "RES124",
                "a time is given for backups that are kept for 0 days",
                here / "at",
                "remove it, or write `days: 7`",
                source="AWS ParallelCluster 3.16.1, FSx validators",
            )
        return
    if spec.deployment.startswith("SCRATCH"):
        context.fault(
            "RES124",
            f"a {spec.deployment} file system has no backups",
            here,
            "remove them, or take a persistent deployment",
            source=f"{_GUIDE}, using-backups-fsx",
        )
    if spec.data_repositories:
        context.fault(
            "RES124",
            "a file system that is linked to S3 has no backups",
            here,
            "remove them: what is exported lies in the bucket, whose versions are kept",
            source=f"{_GUIDE}, using-backups-fsx; FSx API, CopyTagsToBackups",
        )


def _zone(context: Context, name: str, spec: CreatedLustre, at: Route) -> str:
    """The zone of its subnet; empty where none can be known."""
    pools = context.once(resolve_pools)
    of_pools: set[str] = set()
    for pool in pools.values():
        of_pools.update(pool.zones)
    zones = sorted(of_pools)
    if spec.zone is not None:
        return spec.zone
    if len(zones) == 1:
        context.derive(
            f"storage/{name}",
            "zone",
            zones[0],
            "the one zone of the pools: reads never cross zones",
            f"{_GUIDE}, accessing file systems",
        )
        return zones[0]
    if not zones and context.once(zones_of_faulty_pools):
        return ""
    shown = listed(zones) or "none"
    context.fault(
        "RES128",
        f"the zone of the file system is not said, and the pools are in {shown}",
        at,
        f"add `zone: {zones[0]}`, that of the jobs that mount it" if zones else "add `zone:`",
        source=f"{_GUIDE}, accessing file systems",
    )
    return ""


def _subnet(context: Context, zone: str, at: Route) -> tuple[str | None, str | None]:
    """The VPC and the private subnet of a zone; none of a VPC that eksctl makes, whose ids nobody knows yet."""
    network = NetworkSection.of(context.spec).network
    if not zone or context.is_faulty("RES004", at / "zone"):
        return None, None
    place, help = at / "zone", "take a zone of the pools"
    if network.existing is not None:
        subnets = network.existing.private.get(zone, [])
        if subnets:
            return network.existing.vpc, subnets[0].id
        known = sorted(network.existing.private)
        message = f"the VPC has no private subnet in `{zone}`"
        help = f"take {listed(known, ' or ')}, or add a subnet to `network.existing.subnets`"
    else:
        chosen = network.created.zones
        if not chosen and context.once(zones_of_faulty_pools):
            return None, None
        known = sorted(chosen) or sorted(
            {zone for pool in context.once(resolve_pools).values() for zone in pool.zones}
        )
        if zone in known:
            return None, None
        if known:
            message = f"the VPC that eksctl makes has a subnet in {listed(known)}, and none is certain in `{zone}`"
            help = f"take one of these, or add `{zone}` to `network.create.zones`"
        else:
            message = f"eksctl chooses the zones of the VPC that it makes, and a subnet in `{zone}` is not certain"
            help = f"add `{zone}` to `network.create.zones`, or name the zones of the pools"
    context.fault("RES128", message, place, help, source="FSx API, SubnetIds")
    return None, None
