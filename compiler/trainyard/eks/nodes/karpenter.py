"""What Karpenter needs of a pool: its NodeClasses, NodePools and NodeOverlay, and the role of their nodes."""

from __future__ import annotations

from dataclasses import replace

from trainyard.catalog.ami_families import AL2023, families, of_alias
from trainyard.core.jobs.stopping import BLOCK_DRAIN
from trainyard.core.launch.plan import BlockDevice, NetworkInterface
from trainyard.core.network.spec import NetworkSection
from trainyard.core.pods.plan import HUGEPAGES
from trainyard.core.pools.pools import BURN_IN_TAINT, GPU_PRESENT, Pool, placement_group
from trainyard.core.pools.share import ROOT_GIB
from trainyard.eks.addons import startup_taints
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.network.plan import NODES_TAG
from trainyard.eks.nodes.boot import boot_of_pool, boot_place
from trainyard.eks.nodes.parts import Part, parts
from trainyard.eks.nodes.plan import (
    BLOCK_ENDS,
    Budget,
    EC2NodeClass,
    NodeClass,
    NodeOverlay,
    NodePool,
    SelectorTerm,
)
from trainyard.eks.nodes.sharing import sharing_labels
from trainyard.eks.release.versions import OF_THE_PLATFORM, own_versions
from trainyard.eks.settings.launcher import Repairs, Volume, launcher_of
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.units import Quantity
from trainyard.output.body import value_at as value
from trainyard.plan import Plan
from trainyard.plan.context import Context
from trainyard.plan.scheduling import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODEPOOL_LABEL,
    ZONE,
    Requirement,
    Taint,
)

RESERVATION_TYPE = "karpenter.k8s.aws/capacity-reservation-type"
_CAPACITY = {"onDemand": "on-demand", "spot": "spot", "reserved": "reserved", "block": "reserved"}


def node_classes(context: Context, pool: Pool) -> tuple[NodeClass, ...]:
    """The EC2NodeClasses of a pool, since interfaces and reservations are its own: one for each NodePool."""
    whole = _node_class(context, pool)
    classes = []
    for part in parts(pool):
        reservations: tuple[SelectorTerm, ...] = ()
        if part.reservation:
            reservations = (SelectorTerm(id=part.reservation),)
        origins = {**whole.origins, "reservations": part.at_reservation}
        classes.append(replace(whole, name=part.name, reservations=reservations, origins=origins))
    return tuple(classes)


def _node_class(context: Context, pool: Pool) -> EC2NodeClass:
    spec, at = pool.spec, pool.at
    origins = {
        "interfaces": pool.at_type,
        "placement_group": at / "placement",
        "block_devices": at / "rootVolume",
        "instance_store": at / "localStorage",
        "boot": boot_place(pool),
    }
    if "ami" in own_versions(context.spec):
        origins["ami_alias"] = OF_THE_PLATFORM["ami"]
    annotations = {}
    if spec.block and spec.block.ends:
        annotations[BLOCK_ENDS] = spec.block.ends
        origins["annotations"] = pool.at_capacity / "ends"
    if pool.efa:
        layout = pool.instance.efa_layout()
    else:
        layout = ()
    # The cluster security group, which EKS tags so and gives self rules both ways from 1.33 on
    # (EKS user guide, sec-group-reqs; kubernetes-versions-standard 1.33).
    cluster_group = SelectorTerm(tags={"aws:eks:cluster-name": context.name})
    interfaces = tuple(NetworkInterface(*interface) for interface in layout)
    profile = instance_profile(context)
    store = "RAID0" if pool.local_storage == "raid0" else None
    boot = boot_of_pool(context, pool)
    return EC2NodeClass(
        at=at,
        name=pool.name,
        origins=origins,
        ami_alias=context.version("ami"),
        role=None if profile else node_role(context),
        instance_profile=profile,
        subnets=_subnets(context, pool),
        security_groups=(cluster_group, *_security_groups(context)),
        placement_group=placement_group(context.name, pool),
        interfaces=interfaces,
        instance_store=store,
        block_devices=_disks(context, pool),
        metadata_hops=1,
        tags=dict(context.spec.tags),
        annotations=annotations,
        boot=boot,
        user_data=boot.runs,
        # It stays with its NodePool, which is not Ready and replaces no node while its class is being deleted
        # (kubernetes-sigs/karpenter, pkg/controllers/nodepool/readiness).
        prune=not spec.reservations,
    )


def node_role(context: Context) -> str:
    """The name of the IAM role of the nodes that Karpenter or EKS Auto Mode launches."""
    if ClusterSection.of(context.spec).auto_mode:
        owner = "AutoMode"
    else:
        owner = "Karpenter"
    return f"{owner}NodeRole-{context.name}"


def instance_profile(context: Context) -> str | None:
    """The instance profile that the bootstrap makes where Karpenter cannot: IAM has no endpoint in a VPC (Karpenter
    v1.14 documentation, private clusters)."""
    if not NetworkSection.of(context.spec).network.is_isolated:
        return None
    if ClusterSection.of(context.spec).auto_mode is not None:
        return None  # EKS makes it, from outside of the VPC
    return f"KarpenterNodeInstanceProfile-{context.name}"


def _subnets(context: Context, pool: Pool) -> tuple[SelectorTerm, ...]:
    existing = NetworkSection.of(context.spec).network.existing
    if existing is None:
        # eksctl tags what it makes with metadata.tags, and private subnets with the internal-elb role.
        tags = {"karpenter.sh/discovery": context.name, "kubernetes.io/role/internal-elb": "1"}
        return (SelectorTerm(tags=tags),)
    terms: list[SelectorTerm] = []
    for zone in pool.zones:
        subnets = existing.private[zone]
        terms += [SelectorTerm(id=subnet.id) for subnet in subnets]
    return tuple(terms)


def _security_groups(context: Context) -> list[SelectorTerm]:
    """Those that the spec names in addition to the cluster's, or the one that the network of the bootstrap has."""
    network = NetworkSection.of(context.spec).network
    if network.is_made:
        return [SelectorTerm(tags={NODES_TAG: context.name})]
    existing = network.existing
    if existing is None:
        return []
    return [SelectorTerm(id=group) for group in existing.security_groups]


def _disks(context: Context, pool: Pool) -> tuple[BlockDevice, ...]:
    """The disk with images and pods, and that of the system where the family of the AMI has it apart."""
    volume = pool.spec.root_volume
    why = "holds the system, images and logs"
    if pool.local_storage == "raid0":
        why = "images and logs lie on NVMe"
    size = context.settle(
        f"pool/{pool.name}",
        "rootVolume.size",
        volume.size if volume else None,
        Quantity.gib(ROOT_GIB[pool.local_storage]),
        why,
        at=pool.at / "rootVolume" / "size",
    )
    family = of_alias(context.version("ami"))
    if family is None or not family.data_device:
        family = families()[AL2023]
    name = family.data_device or family.root_device
    if volume is None:
        disk = BlockDevice(name, size)
    else:
        disk = BlockDevice(name, size, "gp3", volume.iops, volume.throughput)
    if not family.data_device:
        return (disk,)
    return disk, BlockDevice(family.root_device, Quantity.gib(family.system_gib))


def root_volume(plan: Plan, pool: str) -> Volume | None:
    """The first volume of a pool's node classes, which are alike."""
    for part in plan.of(NodePool):
        node_class = plan.named(NodeClass, part.node_class)
        if part.title == pool and node_class is not None and node_class.block_devices:
            disk = node_class.block_devices[0]
            return Volume(disk.size, disk.iops, disk.throughput)
    return None


def repairs(plan: Plan) -> Repairs:
    """Whether Karpenter's gate for repair is open."""
    off = "nobody replaces a sick node: `health.nodeRepair` is off"
    if any(_has_gate(release) for release in plan.of(HelmRelease)):
        off = ""
    return Repairs("Karpenter", "karpenter-provider-aws v1.14.1, RepairPolicies", off)


def _has_gate(release: HelmRelease) -> bool:
    gate = value(release.values, "settings", "featureGates", "nodeRepair")
    return release.chart == "karpenter" and gate is True


def node_pools(context: Context, pool: Pool) -> tuple[NodePool, ...]:
    """The NodePools of a pool: one, or one for each of several reservations."""
    whole = _node_pool(context, pool)
    if pool.split:
        named = (f"{part.name} ({part.nodes} nodes)" for part in parts(pool))
        names = ", ".join(named)
        context.derive(
            f"pool/{pool.name}",
            "nodePools",
            names,
            "one for each reservation, so that jobs can be kept in one",
            follows=pool.at_capacity / "reservations",
        )
    pool_parts = parts(pool)
    return tuple(_of_part(whole, pool, part) for part in pool_parts)


def _of_part(whole: NodePool, pool: Pool, part: Part) -> NodePool:
    return replace(
        whole,
        name=part.name,
        node_class=part.name,
        labels={**whole.labels, **part.labels},
        limits=_limits(pool, part.nodes),
        replicas=part.nodes if pool.static else None,
        origins={**whole.origins, "limits": part.at_nodes, "replicas": part.at_nodes},
    )


def _node_pool(context: Context, pool: Pool) -> NodePool:
    spec = pool.spec
    at = pool.at
    instance = pool.instance
    types = tuple(known.name for known in pool.instances)
    capacity_types = tuple(_CAPACITY[kind] for kind in spec.capacity_types)
    requirements = [
        Requirement(INSTANCE_TYPE, "In", types),
        Requirement(ZONE, "In", pool.zones),
        Requirement(CAPACITY_TYPE, "In", capacity_types),
    ]
    if pool.block:
        requirements.append(Requirement(RESERVATION_TYPE, "In", ("capacity-block",)))
    labels = dict(spec.labels)
    if instance.gpus:
        # What the NVIDIA chart's default affinity looks for without feature discovery (device plugin 0.20.0).
        labels[GPU_PRESENT] = "true"
    if spec.gpu_sharing is not None:
        labels.update(sharing_labels(context, pool))
    _explain(context, pool)
    return NodePool(
        at=at,
        name=pool.name,
        node_class=pool.name,
        origins={
            "taints": at / "taints",
            "labels": at / "labels",
            "instance_types": at / "instanceTypes",
            "zones": at / "zones",
            "capacity_types": at / "capacity",
        },
        labels=labels,
        taints=pool.taints,
        startup_taints=_startup_taints(context, pool),
        requirements=tuple(requirements),
        consolidation=None if pool.static else "WhenEmpty",
        consolidate_after=_consolidate_after(context, pool),
        budgets=_budgets(pool),
        expire_after="Never",
        termination_grace=_drain(context, pool),
        # Nodes of a reservation are paid for and always on: losing them to a slip in git would end every job on them.
        prune=not spec.reservations,
    )


def _startup_taints(context: Context, pool: Pool) -> tuple[Taint, ...]:
    """What keeps pods away from a new node until its agents are ready on it, and until it was tested."""
    taints = startup_taints(context)
    if pool.spec.burn_in is not None:
        taints = (*taints, Taint(BURN_IN_TAINT, "", "NoSchedule"))
    return taints


def node_overlay(context: Context, pool: Pool) -> NodeOverlay:
    """Nodes of an overlaid pool as Karpenter must count them: pages that the EFA driver takes, out of their memory, and
    shares of GPUs."""
    pages = pool.share.huge_pages
    capacity = {}
    if pages > Quantity(0):
        capacity = {HUGEPAGES: pages}
    resource, unknown = pool.share.resource, "huge pages"
    if pool.spec.gpu_sharing is not None and resource:
        capacity[resource] = Quantity.of(pool.share.accelerators)
        unknown = "shares of GPUs"
    amounts = [f"{amount} {name}" for name, amount in capacity.items()]
    context.derive(
        f"pool/{pool.name}",
        "overlay",
        ", ".join(amounts),
        f"Karpenter knows of no {unknown}, and launches nothing for pods that ask for them",
        "karpenter.sh/v1alpha1 NodeOverlay, v1.14.1",
    )
    node_pool_names = tuple(part.name for part in parts(pool))
    return NodeOverlay(
        at=pool.at,
        name=pool.name,
        origins={"capacity": pool.at_type},
        requirements=(Requirement(NODEPOOL_LABEL, "In", node_pool_names),),
        capacity=capacity,
    )


def _explain(context: Context, pool: Pool) -> None:
    target = f"pool/{pool.name}"
    of_pool = _limits(pool, pool.nodes)
    amounts = of_pool.items()
    limits = ", ".join(f"{amount} {resource}" for resource, amount in amounts)
    context.derive(
        target,
        "limits",
        limits,
        f"{pool.nodes} nodes of {pool.instance.name}, no more",
        follows=pool.at / "nodes",
    )
    if not launcher_of(pool).ages:
        context.derive(
            target,
            "expireAfter",
            "Never",
            "a node that ends by its age ends the gang on it",
            "karpenter.sh/v1 NodePool, v1.14.1",
        )
    if pool.efa:
        layout = pool.instance.efa_layout()
        context.derive(
            target,
            "networkInterfaces",
            f"{len(layout)}, {pool.share.efa} of them efa-only",
            "EFA without addresses of its own on every card that has it",
            "EC2 user guide, efa-acc-inst-types",
        )


def _limits(pool: Pool, nodes: int) -> dict[str, Quantity]:
    if pool.static:
        return {"nodes": Quantity.of(nodes)}
    resource = pool.instance.accelerator_resource
    if resource:
        accelerators = nodes * pool.instance.accelerators
        return {resource: Quantity.of(accelerators)}
    most_vcpus = max(instance.vcpus for instance in pool.instances)
    return {"cpu": Quantity.of(nodes * most_vcpus)}


def _consolidate_after(context: Context, pool: Pool) -> str:
    given = pool.spec.consolidate_after
    derived = "15m"
    why = "longer than a gang takes to restart, so that retries keep their nodes"
    if pool.static:
        derived, why = "0s", "a static pool keeps its nodes"
    return context.settle(
        f"pool/{pool.name}",
        "consolidateAfter",
        None if given is None else str(given),
        derived,
        why,
        at=pool.at / "consolidateAfter",
    )


def _drain(context: Context, pool: Pool) -> str | None:
    """The deadline of a drain. Without one Karpenter never stops a pod that says `do-not-disrupt`."""
    if not pool.block:
        return None
    context.derive(
        f"pool/{pool.name}",
        "terminationGracePeriod",
        BLOCK_DRAIN,
        "pods are told to stop, and may save, between Karpenter's drain, up to a minute late, 40 minutes "
        "before a block's end, and EC2's reclaim 30 minutes before it",
        "karpenter v1.14.1 capacityreservation/expiration; EC2 user guide, Capacity Blocks",
    )
    return str(BLOCK_DRAIN)


def _budgets(pool: Pool) -> tuple[Budget, ...]:
    # A static pool at its limit has no room for the successor of a drifted node: Karpenter replaces none (v1.14.1,
    # static drift). What its nodes are made of changes as people delete NodeClaims, one by one.
    if pool.static:
        return (Budget("0", ("Drifted",)),)
    # Running pods carry do-not-disrupt; the budget is for nodes between two jobs. One drifted node at a time.
    return (Budget("100%", ("Empty",)), Budget("1", ("Drifted",)), Budget("0", ("Underutilized",)))
