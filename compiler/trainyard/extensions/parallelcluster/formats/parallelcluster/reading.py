"""ParallelCluster's configuration read back: partitions as pools, and the file systems that nodes mount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.core.cloud.plan import LinkedFolder
from trainyard.extensions.parallelcluster.cluster.plan import (
    CLUSTER_TAG,
    AccountingDatabase,
    LoginPool,
    SlurmCluster,
)
from trainyard.extensions.parallelcluster.formats.parallelcluster.whole import Whole
from trainyard.extensions.parallelcluster.partitions.plan import (
    PARTITION,
    POOL_TAG,
    ComputeResource,
    Partition,
    group_of,
    reservations_of,
)
from trainyard.extensions.parallelcluster.settings.defaults import SCHEDULABLE_PERCENT
from trainyard.extensions.parallelcluster.settings.node_scripts import NodeScript, NodeScripts
from trainyard.extensions.parallelcluster.shared_storage.plan import BucketAccess, SharedFileSystem
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, POOL_LABEL, Requirement
from trainyard.verify.whole import Part

_LABELS = {"ONDEMAND": "on-demand", "SPOT": "spot", "CAPACITY_BLOCK": "reserved"}
_IDS = {
    "FsxLustre": ("FsxLustreSettings", "FileSystemId"),
    "Ebs": ("EbsSettings", "VolumeId"),
    "Efs": ("EfsSettings", "FileSystemId"),
}


def nodes(whole: Whole) -> Iterator[PlanItem]:
    """What a configuration says of pools and storage."""
    root = Part(whole, ())
    if root.get("HeadNode") is not None:
        yield _cluster(root)
    for queue in root.items("Scheduling", "SlurmQueues"):
        name = queue.text("Name")
        if name:
            yield _partition(queue, name)
    for storage in root.items("SharedStorage"):
        mounted = _file_system(storage)
        if mounted is not None:
            yield mounted
        yield from _linked_folders(storage)
    for access in root.items("HeadNode", "Iam", "S3Access"):
        bucket = access.text("BucketName")
        if bucket:
            writes = access.flag("EnableWriteAccess")
            yield BucketAccess(at=access.at(), name=bucket, read_only=not writes)


def _linked_folders(storage: Part) -> Iterator[LinkedFolder]:
    """The folders of a new file system that are linked to buckets (DataRepositoryAssociations)."""
    for link in storage.items("FsxLustreSettings", "DataRepositoryAssociations"):
        events = link.get("AutoExportPolicy")
        yield LinkedFolder(
            at=link.at(),
            logical=link.text("Name") or "",
            place=link.text("DataRepositoryPath"),
            exports=tuple(map(str, events)) if isinstance(events, list) else (),
            origins={"exports": link.at("AutoExportPolicy")},
        )


def _cluster(root: Part) -> SlurmCluster:
    slurm = ("Scheduling", "SlurmSettings")
    head = ("HeadNode",)
    cidr = (*head, "Ssh", "AllowedIps")
    volume = (*head, "LocalStorage", "RootVolume")
    times = ("DevSettings", "Timeouts")
    logs = ("Monitoring", "Logs", "CloudWatch")
    tags = {tag.text("Key") or "": tag.text("Value") or "" for tag in root.items("Tags")}
    settings: dict[str, str | int] = {}
    for part in root.items(*slurm, "CustomSlurmSettings"):
        settings |= {
            name: value for name, value in part.get().items() if isinstance(value, str | int)
        }
    return SlurmCluster(
        at=root.at(),
        name=tags.get(CLUSTER_TAG, ""),
        region=root.text("Region") or "",
        os=root.text("Image", "Os") or "",
        head_type=root.text(*head, "InstanceType") or "",
        head_subnet=root.id(*head, "Networking", "SubnetId"),
        head_gib=root.number(*volume, "Size"),
        head_iops=root.number(*volume, "Iops"),
        head_throughput=root.number(*volume, "Throughput"),
        key_name=root.text(*head, "Ssh", "KeyName"),
        allowed_cidr=root.text(*cidr),
        security_groups=root.ids(*head, "Networking", "AdditionalSecurityGroups"),
        idle_minutes=root.number(*slurm, "ScaledownIdletime"),
        settings=tuple(sorted(settings.items())),
        database=_database(Part(root.whole, (*slurm, "Database"))),
        login=next(map(_login, root.items("LoginNodes", "Pools")), None),
        policies=_policies(Part(root.whole, head)),
        log_days=root.number(*logs, "RetentionInDays"),
        has_logs=root.get(*logs, "Enabled") is not False,
        logs_end_with_it=root.text(*logs, "DeletionPolicy") == "Delete",
        detailed_monitoring=root.flag("Monitoring", "DetailedMonitoring"),
        tags={name: value for name, value in tags.items() if name != CLUSTER_TAG},
        scripts=_scripts(Part(root.whole, head)),
        head_minutes=_minutes(root.number(*times, "HeadNodeBootstrapTimeout")),
        node_minutes=_minutes(root.number(*times, "ComputeNodeBootstrapTimeout")),
        origins={
            "os": root.at("Image", "Os"),
            "head_type": root.at(*head, "InstanceType"),
            "head_subnet": root.at(*head, "Networking", "SubnetId"),
            "key_name": root.at(*head, "Ssh"),
            "allowed_cidr": root.at(*cidr),
            "settings": root.at(*slurm, "CustomSlurmSettings"),
            "policies": root.at(*head, "Iam"),
            "log_days": root.at(*logs, "RetentionInDays"),
            "has_logs": root.at(*logs, "Enabled"),
            "logs_end_with_it": root.at(*logs, "DeletionPolicy"),
            "scripts": root.at(*head, "CustomActions"),
        },
    )


def _scripts(nodes: Part) -> NodeScripts:
    """What nodes run at each event."""
    return NodeScripts(
        start=tuple(_row(nodes, "OnNodeStart")), configured=tuple(_row(nodes, "OnNodeConfigured"))
    )


def _row(nodes: Part, event: str) -> Iterator[NodeScript]:
    action = Part(nodes.whole, (*nodes.path, "CustomActions", event))
    for one in [*action.items("Sequence")] or [action]:
        place = one.text("Script")
        if place:
            yield NodeScript(place, one.ids("Args"))


def _minutes(seconds: int | None) -> int | None:
    return None if seconds is None else seconds // 60


def _login(pool: Part) -> LoginPool:
    """A pool of login nodes (aws-parallelcluster 3.16.1, LoginNodesPool: one by default)."""
    count = pool.number("Count")
    return LoginPool(
        at=pool.at(),
        count=1 if count is None else count,
        instance_type=pool.text("InstanceType") or "",
        subnet=next(iter(pool.ids("Networking", "SubnetIds")), ""),
        allowed_cidr=pool.text("Ssh", "AllowedIps"),
        grace_minutes=pool.number("GracetimePeriod"),
        security_groups=pool.ids("Networking", "AdditionalSecurityGroups"),
        scripts=_scripts(pool),
        origins={
            "count": pool.at("Count"),
            "instance_type": pool.at("InstanceType"),
            "subnet": pool.at("Networking", "SubnetIds"),
            "allowed_cidr": pool.at("Ssh", "AllowedIps"),
            "grace_minutes": pool.at("GracetimePeriod"),
        },
    )


def _database(part: Part) -> AccountingDatabase | None:
    uri, user = part.text("Uri"), part.text("UserName")
    if uri is None or user is None:
        return None
    return AccountingDatabase(
        at=part.at(),
        uri=uri,
        user=user,
        password=part.text("PasswordSecretArn") or "",
        name=part.text("DatabaseName"),
    )


def _requirements(
    queue: Part, resources: Sequence[ComputeResource], capacity: str
) -> Iterator[Requirement]:
    """The types of the nodes of a queue, and how EC2 has them."""
    types = tuple(dict.fromkeys(kind for one in resources for kind in one.instance_types))
    if types:
        yield Requirement(INSTANCE_TYPE, "In", types)
    is_reserved = any(one.reservation for one in resources) or queue.get(
        "CapacityReservationTarget"
    )
    label = "reserved" if is_reserved else _LABELS.get(capacity, "")
    if label:
        yield Requirement(CAPACITY_TYPE, "In", (label,))


def _partition(queue: Part, name: str) -> Partition:
    resources = tuple(map(_resource, queue.items("ComputeResources")))
    capacity = queue.text("CapacityType") or "ONDEMAND"
    most = sum(one.most for one in resources)
    least = sum(one.least for one in resources)
    root = ("ComputeSettings", "LocalStorage", "RootVolume")
    first = next(queue.items("ComputeResources"), queue)
    scratch = queue.text("ComputeSettings", "LocalStorage", "EphemeralVolume", "MountDir")
    size = queue.number(*root, "Size")
    limits: Mapping[str, Quantity] = {"nodes": Quantity.of(most)} if resources else {}
    group, strategy = group_of(name, resources)
    return Partition(
        at=queue.at(),
        name=name,
        labels={PARTITION: name, **_pool_of(queue)},
        requirements=tuple(_requirements(queue, resources, capacity)),
        limits=limits,
        replicas=most if resources and least == most else None,
        efa=bool(resources) and all(one.efa for one in resources),
        block=capacity == "CAPACITY_BLOCK",
        reservations=reservations_of(resources),
        placement_group=group,
        placement_strategy=strategy,
        least=least,
        own_kubelet=True,
        memory_percent=_memory_percent(queue),
        threads=_threads(queue),
        capacity=capacity,
        subnets=queue.ids("Networking", "SubnetIds"),
        security_groups=queue.ids("Networking", "AdditionalSecurityGroups"),
        resources=resources,
        root_size=size,
        root=None if scratch or size is None else Quantity.gib(size),
        root_iops=queue.number(*root, "Iops"),
        root_throughput=queue.number(*root, "Throughput"),
        scratch=scratch,
        gpu_check=queue.get("HealthChecks", "Gpu", "Enabled") is True,
        policies=_policies(queue),
        scripts=_scripts(queue),
        origins={
            "limits": first.at("MaxCount"),
            "replicas": first.at("MinCount"),
            "requirements": first.at("InstanceType"),
            "instance_types": first.at("InstanceType"),
            "capacity": queue.at("CapacityType"),
            "capacity_types": queue.at("CapacityType"),
            "zones": queue.at("Networking", "SubnetIds"),
            "subnets": queue.at("Networking", "SubnetIds"),
            "efa": first.at("Efa"),
            "reservations": first.at("CapacityReservationTarget"),
            "placement_group": first.at("Networking", "PlacementGroup"),
            "root_size": queue.at(*root),
            "root": queue.at(*root, "Size"),
            "policies": queue.at("Iam"),
        },
    )


def _memory_percent(queue: Part) -> int:
    """Of a node's memory, what Slurm may give to jobs: all that may be, where the file says its amount."""
    said = any(one.number("SchedulableMemory") for one in queue.items("ComputeResources"))
    return 100 if said else SCHEDULABLE_PERCENT


def _threads(queue: Part) -> int | None:
    """The threads of each core, where multithreading is off on some of the nodes."""
    off = "DisableSimultaneousMultithreading"
    return 1 if any(one.get(off) is True for one in queue.items("ComputeResources")) else None


def _pool_of(queue: Part) -> Mapping[str, str]:
    """The pool of the spec that a queue of ours belongs to, by its tag."""
    for tag in queue.items("Tags"):
        value = tag.text("Value")
        if tag.text("Key") == POOL_TAG and value:
            return {POOL_LABEL: value}
    return {}


def _policies(part: Part) -> tuple[str, ...]:
    items = part.items("Iam", "AdditionalIamPolicies")
    return tuple(filter(None, (item.text("Policy") for item in items)))


def _resource(part: Part) -> ComputeResource:
    one = part.text("InstanceType")
    several = (item.text("InstanceType") for item in part.items("Instances"))
    types = (one,) if one else tuple(kind for kind in several if kind)
    group = ("Networking", "PlacementGroup")
    enabled = part.get(*group, "Enabled")
    target = ("CapacityReservationTarget", "CapacityReservationId")
    # aws-parallelcluster 3.16.1, constants.py: DEFAULT_MIN_COUNT and DEFAULT_MAX_COUNT.
    least, most = part.number("MinCount"), part.number("MaxCount")
    return ComputeResource(
        at=part.at(),
        name=part.text("Name") or "",
        instance_types=types,
        least=0 if least is None else least,
        most=10 if most is None else most,
        efa=part.get("Efa", "Enabled") is True,
        reservation=part.text(*target),
        placement=enabled if isinstance(enabled, bool) else None,
        group=part.text(*group, "Name"),
        origins={
            "most": part.at("MaxCount"),
            "least": part.at("MinCount"),
            "instance_types": part.at("InstanceType"),
            "efa": part.at("Efa"),
            "reservation": part.at(*target),
            "placement": part.at(*group),
        },
    )


def _file_system(part: Part) -> SharedFileSystem | None:
    kind, name, mounted = part.text("StorageType"), part.text("Name"), part.text("MountDir")
    if kind is None or name is None or mounted is None:
        return None
    settings, id = _IDS.get(kind, ("", ""))
    return SharedFileSystem(
        at=part.at(),
        name=name,
        mount_dir=mounted,
        kind=kind,
        id=part.id(settings, id),
        origins={
            "name": part.at("Name"),
            "mount_dir": part.at("MountDir"),
            "id": part.at(settings, id),
        },
    )
