"""Pools that are managed node groups: eksctl creates them, EKS repairs their nodes, Karpenter ignores them.

Sources: eksctl v0.230.0, pkg/cfn/builder (managed_launch_template.go, network_interfaces.go),
pkg/nodebootstrap/al2023.go and pkg/apis/eksctl.io/v1alpha5/validation.go; EKS user guide, managed-node-groups and
capacity-blocks-mng.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.catalog.ami_families import AL2023, families, of_alias
from trainyard.core.network.spec import NetworkSection
from trainyard.core.pools.pools import GPU_PRESENT, Pool, placement_group
from trainyard.core.pools.spec import NodePool
from trainyard.eks.addons import startup_taints
from trainyard.eks.nodes.boot import boot_of_pool, boot_place
from trainyard.eks.nodes.parts import Part, parts
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.eks.nodes.sharing import sharing_labels
from trainyard.eks.release.ami import ami_build
from trainyard.eks.settings.launcher import SICK_SHARE, SYSTEM, Refused, Repairs, Volume
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.units import Quantity
from trainyard.plan import Plan
from trainyard.plan.context import Context
from trainyard.plan.scheduling import POOL_LABEL

_EKSCTL = "eksctl v0.230.0"
GROUP_NODES = 5
"""A managed node group of so many nodes is repaired however many of them are sick; of a larger one none, where more
than 20% are (EKS user guide, node-repair, commit dbc0b729)."""


def node_groups(context: Context, pool: Pool) -> Iterator[NodeGroup]:
    """The node groups of a pool: one, or one for each of its reservations."""
    _, ami_release = ami_build(context)
    for part in parts(pool):
        yield _node_group(context, pool, part, ami_release)
    context.derive(
        f"pool/{pool.name}",
        "managedNodeGroup",
        ", ".join(part.name for part in parts(pool)),
        "eksctl makes them from `bootstrap/nodegroups/`, and Karpenter launches nothing for the pool",
        _EKSCTL,
        follows=pool.at / "managedNodeGroup",
    )


def _labels(context: Context, pool: Pool, part: Part) -> dict[str, str]:
    labels = {POOL_LABEL: pool.name, **part.labels, **pool.spec.labels}
    if pool.instance.gpus:
        labels[GPU_PRESENT] = "true"
    if pool.spec.gpu_sharing is not None:
        labels.update(sharing_labels(context, pool))
    return labels


def _node_group(context: Context, pool: Pool, part: Part, ami_release: str | None) -> NodeGroup:
    spec, at = pool.spec, pool.at
    volume = spec.root_volume
    repair = _repair(pool)
    if set(repair) - {"enabled"}:
        repair_config = repair
    else:
        repair_config = {}
    existing = NetworkSection.of(context.spec).network.existing
    groups = existing.security_groups if existing is not None else ()
    disks = "RAID0" if pool.local_storage == "raid0" else ""
    return NodeGroup(
        at=at,
        name=part.name,
        instance_types=tuple(known.name for known in pool.instances),
        zones=pool.zones,
        min_size=part.nodes,
        max_size=part.nodes,
        desired=part.nodes,
        ami_family=families()[AL2023].eksctl,
        ami_release=ami_release,
        private=True,
        volume=-(-pool.root_size.value // 1024**3),
        volume_iops=volume.iops if volume else None,
        volume_throughput=volume.throughput if volume else None,
        encrypted=True,
        labels=_labels(context, pool, part),
        taints=pool.taints,
        startup_taints=startup_taints(context),
        tags=dict(context.spec.tags),
        efa=pool.efa,
        placement_group=placement_group(context.name, pool),
        reservation=part.reservation,
        capacity_block=pool.block,
        spot=spec.capacity_types == ("spot",),
        security_groups=tuple(groups),
        local_storage=disks,
        repair=_repairs(repair),
        repair_config=repair_config,
        boot=boot_of_pool(context, pool),
        origins={
            "instance_types": pool.at_type,
            "zones": at / "zones",
            "labels": at / "labels",
            "boot": boot_place(pool),
            "taints": at / "taints",
            "efa": at / "efa",
            "placement_group": at / "placement",
            "reservation": part.at_reservation,
            "min_size": part.at_nodes,
            "max_size": part.at_nodes,
            "desired": part.at_nodes,
            "repair": at / "managedNodeGroup",
            "ami_family": at / "managedNodeGroup",
            "volume": at / "rootVolume" / "size",
        },
    )


def _repair(pool: Pool) -> Mapping[str, object]:
    managed = pool.spec.managed_node_group
    assert managed is not None, "only asked of a managed node group"
    config: dict[str, object] = managed.node_repair_config.model_dump(
        by_alias=True, exclude_none=True
    )
    if not config["nodeRepairConfigOverrides"]:
        del config["nodeRepairConfigOverrides"]
    return config


def _repairs(config: Mapping[str, object]) -> bool:
    return bool(config.get("enabled", True))


def root_volume(plan: Plan, pool: str) -> Volume | None:
    """What the groups of a pool say, which are alike."""
    for group in _of_pool(plan, pool):
        if group.volume is not None:
            return Volume(Quantity.gib(group.volume), group.volume_iops, group.volume_throughput)
    return None


def repairs(plan: Plan, pool: str) -> Repairs:
    """The settings of the groups of a pool, which are alike."""
    source = "EKS user guide, node-repair"
    group = next(_of_pool(plan, pool))
    off = ""
    if not group.repair:
        off = "nobody replaces a sick node: `nodeRepairConfig.enabled` of the node group is off"
    overrides = group.repair_config.get("nodeRepairConfigOverrides") or ()
    return Repairs("EKS", source, off, overrides=overrides)


def _of_pool(plan: Plan, pool: str) -> Iterator[NodeGroup]:
    return (group for group in plan.of(NodeGroup) if group.title == pool)


def most_repaired(pool: NodePool) -> tuple[int, str]:
    """What its settings say, or else what EKS does."""
    nodes = pool.nodes.max
    managed = pool.managed_node_group
    assert managed is not None, "only asked of a managed node group"
    config = managed.node_repair_config
    if config.max_unhealthy_node_threshold_count is not None:
        most = min(nodes, config.max_unhealthy_node_threshold_count)
        return most, "as `nodeRepairConfig.maxUnhealthyNodeThresholdCount` says"
    share = config.max_unhealthy_node_threshold_percentage
    if share is not None:
        return nodes * share // 100, f"{share}% of {nodes}, as `nodeRepairConfig` says"
    if nodes <= GROUP_NODES:
        return nodes, f"EKS: all of a node group of {GROUP_NODES} nodes at most"
    return nodes * SICK_SHARE // 100, f"EKS: {SICK_SHARE}% of {nodes}"


def refused(context: Context, pool: Pool) -> Iterator[Refused]:
    """What a managed node group of eksctl cannot be."""
    family = of_alias(context.version("ami"))
    if family is not None and family.alias != AL2023:
        yield Refused(
            pool.at / "managedNodeGroup",
            f"is a managed node group, which boots Amazon Linux 2023 here, and `ami` is of {family.title}",
            "remove it: Karpenter's nodes boot what `ami` says; or remove `ami`",
            _EKSCTL,
        )
    for key, fact, help in _limits(pool):
        yield Refused(pool.at / key, f"is a managed node group, {fact}", help, _EKSCTL)


def _limits(pool: Pool) -> Iterator[tuple[str, str, str]]:
    """The key, what is wrong, and what to write instead."""
    spec, instance = pool.spec, pool.instance
    if pool.name == SYSTEM:
        yield (
            "name",
            "and eksctl makes one of that name with the cluster: it leaves it as it is, and makes no other",
            "give the pool another name, like that of its accelerator",
        )
    if not pool.static:
        yield (
            "nodes",
            f"and scales from {spec.nodes.min} to {spec.nodes.max}: nothing scales it",
            f"write `nodes: {spec.nodes.max}`, which are always on, or remove `managedNodeGroup`: Karpenter scales",
        )
    if len(spec.capacity) > 1:
        ways = listed(spec.capacity_types)
        yield (
            "capacity",
            f"which buys its nodes in one way, and not in {ways}",
            "make a pool of each, and let jobs name both in order",
        )
    if spec.reservations and len(pool.instances) > 1:
        yield ("instanceTypes", "and its reservation is of one instance type", "keep one type")
    if spec.consolidate_after is not None:
        yield ("consolidateAfter", "whose nodes are always on", "remove it: only Karpenter uses it")
    if pool.efa and not _plain_layout(pool):
        yield (
            "managedNodeGroup",
            f"and eksctl gives `{instance.name}` an EFA interface on each "
            f"of its {len(instance.network_cards)} network "
            f"cards, which has EFA on {instance.efa_interfaces} of them, the first being card {instance.efa_cards[0]}",
            "remove it: Karpenter's node class lays out the interfaces as EC2 wants them",
        )
    needs_one = pool.efa and not spec.reservations
    given_up = spec.placement == "none" and needs_one
    if given_up and pool.nodes > 1:
        yield (
            "placement",
            "and eksctl puts nodes with EFA into a cluster placement group",
            "remove it, or name a group that exists: `placement: {group: NAME}`",
        )


def _plain_layout(pool: Pool) -> bool:
    """Whether the type has EFA on every network card from the first on, as eksctl lays it out."""
    instance = pool.instance
    cards = tuple(range(len(instance.network_cards)))
    return instance.efa_cards[: instance.efa_interfaces] == cards
