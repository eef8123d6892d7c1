"""Resolves node pools: the type, zones and placement of each, and what jobs can get of a node."""

from __future__ import annotations

from functools import reduce

from trainyard.catalog import InstanceType
from trainyard.core.pools import spec as spec_nodes
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.share import ROOT_GIB, NodeShare, Share, smallest
from trainyard.core.pools.sharing import shares_of
from trainyard.core.pools.sharing_faults import sharing_fault
from trainyard.core.pools.spec import PoolsSection
from trainyard.core.pools.zones import zones_of
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Duration, Quantity
from trainyard.plan.context import SPEC, Context, unique_names
from trainyard.plan.naming import joined
from trainyard.plan.scheduling import NODEPOOL_LABEL, POOL_LABEL, Taint, Toleration

_LONGEST_GROUP = 255  # EC2 API, CreatePlacementGroup GroupName
GPU_PRESENT = "nvidia.com/gpu.present"
BURN_IN_TAINT = "trainyard.dev/burn-in"
# What the levels of `dcgmi diag` normally take (NVIDIA DCGM 4.6, command line reference, dcgmi diag).
DIAGNOSTICS = {0: Duration(0), 2: Duration.minutes(2), 3: Duration.minutes(15)}
"""What new nodes of a pool with a test have until they pass it."""
ULTRASERVERS = ("p6e-gb200", "p6e-gb300")
"""Families of which every node is part of an UltraServer of NVIDIA (EKS user guide, ml-eks-nvidia-ultraserver; PCS user
guide, capacity-blocks-nvidia-imex)."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of the spec with everything that follows from it."""

    spec: spec_nodes.NodePool
    at: Route
    instances: tuple[InstanceType, ...]
    zones: tuple[str, ...]
    efa: bool
    local_storage: str
    placement: str | None
    taints: tuple[Taint, ...]
    share: Share
    launcher: Launcher

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def instance(self) -> InstanceType:
        """The type of its nodes, or the first of several."""
        return self.instances[0]

    @property
    def at_type(self) -> Route:
        """The place of the type of its nodes, or of the first of several."""
        return self.at / "instanceTypes" / 0

    @property
    def at_capacity(self) -> Route:
        """The place of the capacity that is tried first, with what it holds."""
        first = self.spec.capacity[0]
        return self.at / "capacity" / 0 / first.chosen

    @property
    def nodes(self) -> int:
        """Nodes at most."""
        return self.spec.nodes.max

    @property
    def shared_nodes(self) -> int:
        """Nodes that quotas may count: all but the spare ones."""
        return self.spec.nodes.max - self.spec.spare_nodes

    @property
    def root_size(self) -> Quantity:
        """The size of the root volume, by default smaller where images and pods are on NVMe disks."""
        volume = self.spec.root_volume
        return volume.size if volume else Quantity.gib(ROOT_GIB[self.local_storage])

    @property
    def static(self) -> bool:
        """Whether all nodes are always on."""
        nodes = self.spec.nodes
        return nodes.min == nodes.max

    @property
    def accelerator_memory_mib(self) -> int:
        """The memory of what jobs get as an accelerator: a whole one, or a share of it; of several types that of the
        smallest, since any of them may come."""
        whole = min(instance.accelerator_memory_mib for instance in self.instances)
        if self.spec.gpu_sharing is None:
            return whole

        shares = shares_of(self.spec.gpu_sharing, self.instance)
        return whole * shares.memory_64ths // 64

    @property
    def slices(self) -> tuple[str, ...]:
        """The profiles of MIG into which each GPU of a node is cut at boot."""
        sharing = self.spec.gpu_sharing
        if sharing is None or sharing.mig is None:
            return ()

        shares = shares_of(sharing, self.instance)
        return (shares.profile,) * shares.count

    @property
    def overlaid(self) -> bool:
        """Whether Karpenter needs an overlay with the nodes' huge pages or shares of GPUs, of which it knows none.

        It launches nothing for a pod that asks for what no instance type has (issues #3315 and #6296 of
        aws/karpenter-provider-aws; computeCapacity, v1.14.1). Nodes of a static pool wait for no pod.
        """
        if self.static:
            return False
        if self.spec.gpu_sharing is not None:
            return True
        return self.share.huge_pages > Quantity(0)

    @property
    def split(self) -> bool:
        """Whether each of its reservations is a NodePool of its own, which stays when another comes or ends."""
        one_way = len(self.spec.capacity) == 1
        return one_way and bool(self.spec.reservations)

    @property
    def labelled(self) -> bool:
        """Whether its nodes have its name as a label of ours, where no NodePool is called so."""
        return self.split or self.launcher.own_label

    @property
    def selector(self) -> dict[str, str]:
        """The labels that all of its nodes have which may run jobs, and no others."""
        label = POOL_LABEL if self.labelled else NODEPOOL_LABEL
        return {label: self.name, **self.launcher.ready_labels}

    @property
    def block(self) -> bool:
        return self.spec.block is not None

    @property
    def could_have_efa(self) -> bool:
        """Whether any of its types has EFA devices."""
        return any(instance.efa_interfaces for instance in self.instances)

    @property
    def no_efa(self) -> str:
        """Why its nodes have no EFA devices, though their types do; empty where they have them."""
        if self.efa:
            return ""
        if self.spec.efa is False:
            return f"pool `{self.name}` says `efa: false`"
        if self.spec.gpu_sharing is not None:
            return f"the GPUs of pool `{self.name}` are shared"
        return f"pool `{self.name}` has {len(self.instances)} instance types, and a gang over EFA needs one"

    @property
    def why_efa(self) -> str:
        """Why its nodes have as many EFA devices as they have."""
        return self.no_efa or f"{self.instance.name} has {self.share.efa} EFA devices"

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """What a pod needs to land here."""
        return tuple(
            Toleration(taint.key, "Equal", taint.value, taint.effect) for taint in self.taints
        )


def resolve_pools(context: Context) -> dict[str, Pool]:
    """Every pool that could be resolved, by name."""
    at = SPEC / "nodePools"
    declared = PoolsSection.of(context.spec).node_pools
    names = (pool.name for pool in declared)
    unique_names(context, "pool", names, at)
    pools: dict[str, Pool] = {}
    for index, spec in enumerate(declared):
        pool = _pool(context, spec, at / index)
        if pool is not None:
            pools.setdefault(pool.name, pool)
    return pools


def zones_of_faulty_pools(context: Context) -> set[str]:
    """The zones that pools name which could not be resolved. They may be misspelt, and be what is wrong."""
    pools = context.once(resolve_pools)
    declared = PoolsSection.of(context.spec).node_pools
    return {zone for spec in declared if spec.name not in pools for zone in spec.zones}


def _pool(context: Context, spec: spec_nodes.NodePool, at: Route) -> Pool | None:
    instances = _instances(context, spec, at)
    if not instances:
        return None
    instance = instances[0]
    zones = zones_of(context, spec, instances, at)
    if not all(_known(context, known, at) for known in instances):
        return None
    if not zones:
        return None
    if spec.gpu_sharing is not None:
        can_share = _shared(context, spec, instances, at)
        if not can_share:
            return None
    efa = _efa(context, spec, instances, at)
    if efa and not instance.efa_interfaces:
        context.fault(
            "RES007",
            f"`{instance.name}` has no EFA",
            at / "efa",
            "remove it, or take a larger size",
        )
        return None
    launcher = context.answers.launcher(context, spec)
    on_disks = instance.nvme_gb and not launcher.disks_at
    disks = spec.local_storage or ("raid0" if on_disks else "none")
    placement = _placement(context, spec, instance, at, efa=efa)
    taints = _taints(context, spec, instance, at)
    share_of: NodeShare = context.answers.node_share
    shares = []
    for known in instances:
        share = share_of(context, spec, known, efa=efa)
        shares.append(share)
    pool = Pool(
        spec=spec,
        at=at,
        instances=instances,
        zones=zones,
        efa=efa,
        local_storage=disks,
        placement=placement,
        taints=taints,
        share=reduce(smallest, shares),
        launcher=launcher,
    )
    share = pool.share
    if share.cpu < 1 or share.memory < Quantity.gib(1):
        context.fault(
            "RES033",
            f"`{instance.name}` leaves no whole CPU, or no GiB of memory, to jobs",
            at / "instanceTypes" / 0,
            f"take a larger size of {instance.family}: the system takes the rest",
        )
        return None
    _explain(context, pool)
    return pool


def _instances(context: Context, pool: spec_nodes.NodePool, at: Route) -> tuple[InstanceType, ...]:
    """The types of a pool's nodes, where jobs may use one in another's place; () where they may not."""
    instances: list[InstanceType] = []
    for index, name in enumerate(pool.instance_types):
        instance = context.instance(name, at / "instanceTypes" / index)
        if instance is None:
            return ()
        instances.append(instance)
    first = instances[0]
    for index, other in enumerate(instances):
        apart = _unlike(first, other)
        if apart is not None:
            context.fault(
                "RES051",
                f"`{first.name}` and `{other.name}` of one pool have {apart}",
                at / "instanceTypes" / index,
                "make a pool of each: a job of the pool must run on any of its nodes",
            )
            return ()
    return tuple(instances)


def _unlike(one: InstanceType, other: InstanceType) -> str | None:
    """What keeps a job of one type from running on another."""
    if one.arch != other.arch:
        return f"architectures `{one.arch}` and `{other.arch}`"
    if one.accelerator != other.accelerator:
        return f"accelerators `{one.accelerator}` and `{other.accelerator}`"
    if one.accelerators != other.accelerators:
        return f"{one.accelerators} and {other.accelerators} accelerators"
    return None


def _efa(
    context: Context, pool: spec_nodes.NodePool, instances: tuple[InstanceType, ...], at: Route
) -> bool:
    """Whether nodes get EFA devices: those of one type talk over it, however they are bought."""
    one_type = len(instances) == 1
    if pool.efa and not one_type:
        context.fault(
            "RES051",
            f"pool `{pool.name}` has EFA, and nodes of several types",
            at / "efa",
            "remove `efa`, or keep one instance type",
            source="EC2 user guide, efa; a gang over EFA needs nodes of one type in one zone",
        )
    if pool.efa is not None:
        return pool.efa
    if pool.gpu_sharing is not None:
        return False
    return one_type and instances[0].efa_interfaces > 0


def _shared(
    context: Context, pool: spec_nodes.NodePool, instances: tuple[InstanceType, ...], at: Route
) -> bool:
    """Whether the GPUs of a pool can be shared as it says; a fault where they cannot."""
    found = sharing_fault(pool, instances)
    if found is None:
        return True
    context.fault("RES173", found.message, at / found.key, found.help, source=found.source)
    return False


def _known(context: Context, instance: InstanceType, at: Route) -> bool:
    """Whether jobs can get what the type has. Without the network layout a guess would launch nodes without EFA."""
    if instance.family in ULTRASERVERS:
        context.fault(
            "RES175",
            f"`{instance.name}` is a node of an UltraServer, whose GPUs reach those of its other nodes through IMEX, "
            "and no job here asks for a channel of it",
            at / "instanceTypes" / 0,
            "take `p6-b200.48xlarge` or `p6-b300.48xlarge`; on EKS a node group of your own has UltraServers, and "
            "`include:` the jobs with their claims",
            source="EKS user guide, ml-eks-nvidia-ultraserver",
        )
        return False
    if instance.gpu_partition != 1.0:
        context.fault(
            "RES032",
            f"`{instance.name}` has {instance.gpu_partition:g} of a GPU, which EC2 counts as none",
            at / "instanceTypes" / 0,
            "take a type with a whole GPU, like `g6.xlarge`",
        )
        return False
    missing = sorted({"network_cards", "efa_interfaces"} & instance.unknown)
    if missing:
        named = " and ".join(missing)
        what = named.replace("efa_", "EFA ").replace("_", " ")
        context.fault(
            "RES019",
            f"no source states the {what} of `{instance.name}`",
            at / "instanceTypes" / 0,
            "`trainyard catalog refresh` asks EC2 for them; give the file it writes with `--catalog`",
        )
    return not missing


_NO_PLACEMENT = {
    "block": ("a Capacity Block is placed closely by itself", "EC2 user guide, Capacity Blocks"),
    "reserved": ("a reservation lies where it was made", "EC2 user guide, Capacity Reservations"),
}


def _placement(
    context: Context, pool: spec_nodes.NodePool, instance: InstanceType, at: Route, *, efa: bool
) -> str | None:
    if not context.takes("nodePools.placement"):
        return None
    derived, reason, source = "none", "its nodes do not talk over EFA", ""
    capacity_type = pool.capacity_types[0]  # what is reserved comes first
    if pool.group is not None:
        reason = f"placement group {pool.group} exists"
    elif capacity_type in _NO_PLACEMENT:
        reason, source = _NO_PLACEMENT[capacity_type]
    elif efa and pool.nodes.max > 1 and instance.cluster_placement:
        derived, reason = "cluster", "ranks talk over EFA: nodes close together"
        source = "EC2 user guide, placement groups"
    placement = context.settle(
        f"pool/{pool.name}",
        "placement",
        pool.strategy,
        derived,
        reason,
        source,
        at=at / "placement",
    )
    return None if placement == "none" else placement


def _taints(
    context: Context, pool: spec_nodes.NodePool, instance: InstanceType, at: Route
) -> tuple[Taint, ...]:
    resource = instance.accelerator_resource
    own = []
    for declared in pool.taints:
        taint = Taint(declared.key, declared.value, declared.effect)
        own.append(taint)
    # core/v1 NodeSpec: taints are unique by key and effect; a node with two of them cannot register.
    known = {(resource, "NoSchedule")}
    for index, taint in enumerate(own):
        if (taint.key, taint.effect) in known:
            help = "remove one of them"
            if taint.key == resource:
                help = "remove it: pools of accelerators have the taint of their resource by themselves"
            context.fault(
                "RES020",
                f"taint `{taint.key}:{taint.effect}` is set twice on pool `{pool.name}`",
                at / "taints" / index,
                help,
            )
        known.add((taint.key, taint.effect))
    if resource:
        # `present` is the one value that the NVIDIA chart's feature discovery tolerates (device plugin 0.20.0).
        return (Taint(resource, "present", "NoSchedule"), *own)
    if any(taint.effect != "PreferNoSchedule" for taint in own):
        return tuple(own)
    return (Taint("trainyard.dev/training", "present", "NoSchedule"), *own)


def _explain(context: Context, pool: Pool) -> None:
    target = f"pool/{pool.name}"
    share = pool.share
    spec = pool.spec
    if spec.zones:
        zones = ", ".join(spec.zones)
        context.settle(target, "zones", zones, "", "", at=pool.at / "zones")
    context.derive(
        target,
        "share",
        f"{share.cpu} CPU, {share.memory} memory",
        "what jobs can get of a node",
        follows=pool.at_type,
    )
    if pool.could_have_efa:
        context.settle(
            target,
            "efa",
            None if spec.efa is None else share.efa,
            share.efa,
            pool.why_efa,
            "" if pool.no_efa else "EC2 DescribeInstanceTypes MaximumEfaInterfaces",
            at=pool.at / "efa",
        )
    if context.takes("nodePools.taints"):
        context.derive(
            target, "taints", ", ".join(map(str, pool.taints)), "only jobs may land on these nodes"
        )


def placement_group(cluster: str, pool: Pool) -> str | None:
    """The name of a pool's placement group: one that exists, or one that the bootstrap makes."""
    if pool.spec.group is not None:
        return pool.spec.group
    if pool.placement:
        return joined(cluster, pool.name, _LONGEST_GROUP)
    return None


def pool_types(context: Context) -> tuple[tuple[spec_nodes.NodePool, InstanceType], ...]:
    """The pools of the spec with their instance types, as far as those are known."""
    types: list[tuple[spec_nodes.NodePool, InstanceType]] = []
    for pool in PoolsSection.of(context.spec).node_pools:
        for name in pool.instance_types:
            instance = context.catalog.instance(name)
            if instance is not None:
                types.append((pool, instance))
    return tuple(types)
