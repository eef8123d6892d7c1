"""Partitions: from pools and quotas to the queues and compute resources of ParallelCluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.core.network.spec import NetworkSection
from trainyard.core.pools.pools import Pool, resolve_pools
from trainyard.core.pools.windows import window
from trainyard.core.queues.spec import QueuesSection
from trainyard.extensions.parallelcluster.monitoring.metrics import scripts_of
from trainyard.extensions.parallelcluster.partitions.partitions import (
    Nodes,
    Share,
    resource_name,
    shares,
)
from trainyard.extensions.parallelcluster.partitions.plan import (
    PARTITION,
    ComputeResource,
    Partition,
    group_of,
    reservations_of,
)
from trainyard.extensions.parallelcluster.settings.defaults import SCHEDULABLE_PERCENT
from trainyard.extensions.parallelcluster.settings.names import policies, scripts, security_groups
from trainyard.extensions.parallelcluster.settings.root_volumes import check_root_volume
from trainyard.extensions.parallelcluster.settings.spec import AT, ClusterSection
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context
from trainyard.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, POOL_LABEL, Requirement

# Whether the subnets have an address for each node.

_AT = SPEC / "network" / "existing" / "subnets"


def check_addresses(context: Context, pools: Iterable[Pool]) -> None:
    """A fault of each subnet whose nodes have no address each, the least that a node takes. The nodes of a zone are
    all in its first private subnet; those of a pool with several zones may be in any, and are not counted."""
    network = NetworkSection.of(context.spec).network.existing
    if network is None:
        return
    placed = list(pools)
    for zone, (subnet, *others) in network.private.items():
        nodes = sum(pool.nodes for pool in placed if pool.zones == (zone,))
        if subnet.addresses is None or nodes <= subnet.addresses:
            continue
        help = "take fewer nodes, or a larger private subnet of the zone"
        if others:
            help = "take fewer nodes, or name the largest private subnet of the zone first"
        context.fault(
            "RES026",
            f"subnet `{subnet.id}` has {subnet.addresses} addresses, and its {nodes} nodes take one each at least",
            _AT / network.subnets.index(subnet) / subnet.sized_by,
            help,
            source="VPC user guide, subnet sizing",
        )


_CAPACITY: Mapping[str, tuple[str, str]] = {
    "onDemand": ("ONDEMAND", "on-demand"),
    "spot": ("SPOT", "spot"),
    "reserved": ("ONDEMAND", "reserved"),
    "block": ("CAPACITY_BLOCK", "reserved"),
}
"""What ParallelCluster calls a way to buy, and what labels of nodes call it."""
_GIB = 1024**3


def resolve(context: Context) -> Iterator[PlanItem]:
    """The partitions, each with its compute resources, and what jobs can get of a node of each pool."""
    _check_cohorts(context)
    check_addresses(context, context.once(resolve_pools).values())
    checked: set[str] = set()
    for share in context.once(shares):
        if share.pool.name not in checked:
            checked.add(share.pool.name)
            _check(context, share.pool)
            _explain_checks(context, share.pool)
            yield share.pool.share.planned(share.pool.name)
            block = window(share.pool)
            if block is not None:
                yield block
        yield _partition(context, share)


def _check_cohorts(context: Context) -> None:
    """Without accounting the nodes of a partition are its own: nobody lends them."""
    if ClusterSection.of(context.spec).own.accounting is not None:
        return
    for index, queue in enumerate(QueuesSection.of(context.spec).queues):
        if queue.cohort is not None:
            context.fault(
                "RES302",
                f"queue `{queue.name}` shares nodes in cohort `{queue.cohort}`, and without accounting each queue has "
                "nodes of its own",
                SPEC / "queues" / index / "cohort",
                "add `accounting` to the platform, or remove it: the queue then has its quota and no more",
                source="aws-parallelcluster 3.16.1: a node belongs to one queue; Slurm documentation, resource limits",
            )


def _check(context: Context, pool: Pool) -> None:
    """What a compute resource cannot do."""
    whose = f"the root volume of pool `{pool.name}`"
    check_root_volume(context, whose, pool.spec.root_volume, pool.at / "rootVolume")
    if len(pool.spec.capacity) > 1:
        context.fault(
            "RES303",
            f"pool `{pool.name}` is bought in several ways, and a queue of ParallelCluster in one",
            pool.at / "capacity" / 1,
            "make a pool of each, and name both in `pool:` of the job's queue",
            source="aws-parallelcluster 3.16.1, SlurmQueueSchema.CapacityType",
        )
    if pool.placement not in (None, "cluster"):
        context.fault(
            "RES303",
            f"pool `{pool.name}` has the placement `{pool.placement}`, and ParallelCluster makes groups of the "
            "strategy `cluster` alone",
            pool.at / "placement",
            "write `cluster` or `none`, or `{group: NAME}` of a placement group that exists",
            source="aws-parallelcluster 3.16.1, cluster_stack.py: strategy cluster",
        )
    if pool.efa and len(pool.zones) > 1:
        context.fault(
            "RES304",
            f"pool `{pool.name}` has EFA in {len(pool.zones)} zones, and EFA never leaves a zone",
            pool.at / "zones" / 1,
            "keep one zone, that of the reservation if there is one",
            source="aws-parallelcluster 3.16.1, EfaMultiAzValidator",
        )
    elif len(pool.instances) == 1 and len(pool.zones) > 1:
        context.fault(
            "RES304",
            f"pool `{pool.name}` has one instance type in {len(pool.zones)} zones",
            pool.at / "zones" / 1,
            "keep one zone: ParallelCluster takes several only for several instance types",
            source="aws-parallelcluster 3.16.1, SingleInstanceTypeSubnetValidator",
        )


def _explain_checks(context: Context, pool: Pool) -> None:
    if pool.instance.gpus:
        context.derive(
            f"pool/{pool.name}",
            "healthChecks.gpu",
            "on",
            "DCGM tests the GPUs of a node before a job starts on it; a node that fails is replaced",
            "ParallelCluster user guide, Scheduling section, HealthChecks / Gpu",
        )


def _explain(context: Context, share: Share) -> None:
    why = "the nodes of its queue are a partition of their own"
    if share.queue is None:
        why = "one partition of all nodes: accounting holds the quotas"
    context.derive(
        f"pool/{share.pool.name}",
        f"partition.{share.name}",
        f"{share.count} nodes",
        why,
        "aws-parallelcluster 3.16.1: a node belongs to one queue",
        follows=share.at,
    )


def _partition(context: Context, share: Share) -> Partition:
    pool = share.pool
    capacity, label = _CAPACITY[pool.spec.capacity_types[0]]
    types = tuple(instance.name for instance in pool.instances)
    resources = tuple(_resource(share, part) for part in share.nodes)
    root = pool.spec.root_volume
    root_gib = _root_gib(context, pool)
    platform = ClusterSection.of(context.spec).own
    has_disks = pool.local_storage == "raid0"
    nodes_at = share.at / "nodes"
    _explain(context, share)
    group, strategy = group_of(share.name, resources)
    return Partition(
        at=pool.at,
        name=share.name,
        labels={PARTITION: share.name, POOL_LABEL: pool.name},
        requirements=(
            Requirement(INSTANCE_TYPE, "In", types),
            Requirement(CAPACITY_TYPE, "In", (label,)),
        ),
        limits={"nodes": Quantity.of(share.count)},
        replicas=share.count if pool.static else None,
        efa=pool.efa,
        block=pool.block,
        reservations=reservations_of(resources),
        placement_group=group,
        placement_strategy=strategy,
        least=share.least,
        own_kubelet=True,
        memory_percent=SCHEDULABLE_PERCENT,
        capacity=capacity,
        subnets=_subnets(context, pool),
        security_groups=security_groups(context),
        resources=resources,
        root_size=root_gib,
        root_iops=root.iops if root else None,
        root_throughput=root.throughput if root else None,
        root=None if has_disks or root_gib is None else Quantity.gib(root_gib),
        scratch="/scratch" if has_disks else None,
        gpu_check=bool(pool.instance.gpus),
        policies=policies(context, platform.policies),
        scripts=scripts(
            context,
            platform.compute_nodes.custom_actions if platform.compute_nodes else None,
            "compute-node",
            *scripts_of(context, pool),
        ),
        origins={
            "limits": nodes_at,
            "replicas": nodes_at,
            "requirements": pool.at / "instanceTypes",
            "zones": pool.at / "zones",
            "subnets": pool.at / "zones",
            "capacity": pool.at / "capacity",
            "capacity_types": pool.at / "capacity",
            "resources": pool.at,
            "efa": pool.at / "efa",
            "reservations": pool.at_capacity,
            "placement_group": pool.at / "placement",
            "root_size": pool.at / "rootVolume",
            "root": pool.at / "rootVolume" / "size",
            "scratch": pool.at / "localStorage",
            "scripts": AT / "computeNodes" / "customActions",
            "policies": AT / "policies",
        },
    )


def _root_gib(context: Context, pool: Pool) -> int | None:
    """The size of the root volume; ``None``: that of the image, where containers are on NVMe disks."""
    if pool.spec.root_volume is None and pool.local_storage == "none":
        context.derive(
            f"pool/{pool.name}",
            "rootVolume.size",
            str(pool.root_size),
            "images of containers lie on it, three times while one is made: the nodes have no NVMe disks for them",
            "NVIDIA enroot 3.4.1, cmd/import and cmd/create",
        )
    elif pool.spec.root_volume is None:
        return None
    return pool.root_size.value // _GIB


def _resource(share: Share, part: Nodes) -> ComputeResource:
    pool = share.pool
    types = tuple(instance.name for instance in pool.instances)
    placement: bool | None = None
    if not pool.block and pool.efa:
        placement = pool.placement is not None or pool.spec.group is not None
    elif pool.placement or pool.spec.group:
        placement = True
    return ComputeResource(
        at=pool.at,
        name=resource_name(pool.instances, part.reservation),
        instance_types=types,
        least=part.count if pool.block else part.least,
        most=part.count,
        efa=pool.efa,
        reservation=part.reservation,
        placement=placement,
        group=pool.spec.group,
        origins={
            "most": share.at / "nodes",
            "least": share.at / "nodes" if pool.static or pool.block else pool.at / "nodes" / "min",
            "instance_types": pool.at / "instanceTypes",
            "efa": pool.at / "efa",
            "reservation": pool.at_capacity,
            "placement": pool.at / "placement",
        },
    )


def _subnets(context: Context, pool: Pool) -> tuple[str, ...]:
    """The private subnet of each zone of a pool: one of a zone is enough, and ParallelCluster takes no more."""
    network = NetworkSection.of(context.spec).network
    if network.existing is None:
        return ()
    private = network.existing.private
    return tuple(private[zone][0].id for zone in pool.zones if zone in private)
