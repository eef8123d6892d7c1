"""Where pods may land: the node pools of a plan, and what they may launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from trainyard.catalog import Catalog, InstanceType
from trainyard.catalog.ami_families import AmiFamily, of_alias, of_eksctl, of_karpenter
from trainyard.core.launch.plan import Launch
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.eks.cluster.plan import Bootstrap, Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.kueue.plan import Flavor
from trainyard.eks.nodes.plan import (
    BLOCK_ENDS,
    AutoNodeClass,
    EC2NodeClass,
    NodeClass,
    NodeGroup,
    NodePool,
)
from trainyard.judge.model import values
from trainyard.judge.model.choice import Offer
from trainyard.judge.model.offers import (
    FACTS,
    accelerated,
    as_pool,
    has_label,
    in_catalog,
    named_types,
    types_of,
    unmet_requirements,
)
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, placeholder
from trainyard.plan import Plan
from trainyard.plan.scheduling import INSTANCE_TYPE, Taint, Toleration, untolerated

RESERVATION_TYPE = "karpenter.k8s.aws/capacity-reservation-type"


def class_of(plan: Plan, pool: Pool) -> NodeClass | None:
    """The node class by which a pool launches: of Karpenter, or of EKS Auto Mode."""
    if not isinstance(pool, NodePool):
        return None
    kind: type[NodeClass] = AutoNodeClass if pool.auto else EC2NodeClass
    return plan.named(kind, pool.node_class)


class PlacedIn(NamedTuple):
    """A placement group: its strategy where it is known, and where a pool names it."""

    name: str
    strategy: str | None
    at: Route


class Reserved(NamedTuple):
    """The ids of reservations, ``None`` for one that is selected otherwise, and where a pool names them."""

    ids: tuple[str | None, ...]
    at: Route


class Nodes:
    """The pools of a plan, held against the catalog.

    Three-valued throughout: ``None`` or () is unknown, and a rule that meets it stays silent.
    """

    def __init__(self, plan: Plan, catalog: Catalog, manifests: Sequence[Manifest] = ()) -> None:
        self.plan = plan
        self.manifests = manifests
        self.catalog = catalog
        self._types: dict[int, tuple[InstanceType, ...]] = {}

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """Where pods may land: the node pools, and eksctl's node groups seen as pools."""
        cluster = self.plan.one(Cluster)
        groups = self.plan.of(NodeGroup)
        if cluster is not None:
            groups = (*cluster.node_groups, *groups)
        group_pools = map(as_pool, groups)
        return (*self.plan.of(Pool), *group_pools)

    def types(self, pool: Pool) -> tuple[InstanceType, ...]:
        """The instance types that a pool may launch; () where the facts do not say all of them."""
        types = self._types.get(id(pool))
        if types is None:
            types = types_of(pool, self.catalog)
            self._types[id(pool)] = types
        return types

    def offers(self, pools: Iterable[Pool], labels: Mapping[str, str]) -> tuple[Offer, ...]:
        """Each pool with each of its types that has the labels; () where that of one is unknown."""
        facts = [
            (key, value) for key, value in labels.items() if key in FACTS and not placeholder(value)
        ]
        name = labels.get(INSTANCE_TYPE, "")
        wanted = self.catalog.instance(name)
        offers: list[Offer] = []
        for pool in pools:
            fitting = list(self._launchable(pool, wanted))
            for key, value in facts:
                known = in_catalog(pool, key, value)
                fitting = [instance for instance in fitting if FACTS[key](instance) == known]
            if not fitting:
                return ()
            offers += [(pool, instance) for instance in fitting]
        return tuple(offers)

    def _launchable(self, pool: Pool, wanted: InstanceType | None) -> tuple[InstanceType, ...]:
        """The types that a pool may launch for pods that may name one: that one, where a pool says categories only,
        which it is known to meet."""
        types = self.types(pool)
        if types or wanted is None or named_types(pool, self.catalog):
            return types
        return (wanted,)

    def node_class(self, pool: Pool) -> NodeClass | None:
        """The EC2NodeClass of a pool, or its NodeClass of EKS Auto Mode."""
        return class_of(self.plan, pool)

    def pools_of_class(self, node_class: NodeClass) -> list[NodePool]:
        """The pools that launch by a node class."""
        auto = isinstance(node_class, AutoNodeClass)
        return [
            pool
            for pool in self.plan.of(NodePool)
            if pool.node_class == node_class.name and pool.auto is auto
        ]

    def types_started(self, launch: Launch) -> tuple[InstanceType, ...]:
        """The instance types that start like this; () where the facts do not say all of them."""
        if isinstance(launch, NodeClass):
            by_pool = [self.types(pool) for pool in self.pools_of_class(launch)]
            by_name = {each.name: each for each in chain.from_iterable(by_pool)}
            return tuple(by_name.values()) if all(by_pool) else ()
        named = [self.catalog.instance(name) for name in launch.instance_types]
        known = tuple(filter(None, named))
        return known if len(known) == len(named) else ()

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Everything that says how machines start."""
        cluster = self.plan.one(Cluster)
        groups = cluster.node_groups if cluster is not None else ()
        return (*self.plan.of(Launch), *groups)

    def accelerated(self, pool: Pool) -> bool:
        """Whether every node of a pool is known to have accelerators."""
        return accelerated(pool, self.types(pool))

    def efa_of(self, pool: Pool, instance: InstanceType) -> int:
        """EFA devices of a pool's node of a type: those of ``networkInterfaces``, or else all of the type; of a node
        group those of the type if it is ``efaEnabled``."""
        if isinstance(pool, FixedPool):
            return instance.efa_interfaces if pool.efa else 0
        node_class = self.node_class(pool)
        if node_class is not None and node_class.interfaces:
            return node_class.efa
        return instance.efa_interfaces

    def own_kubelet(self, pool: Pool) -> bool:
        """Whether a pool's nodes configure kubelet or system by themselves: what is left for pods is then unknown."""
        if isinstance(pool, FixedPool):
            return pool.own_kubelet
        node_class = self.node_class(pool)
        return node_class is not None and node_class.own_kubelet

    def ami_family(self, pool: Pool) -> AmiFamily | None:
        """The family of the image that the nodes of a pool boot; ``None`` where it may be anything."""
        if isinstance(pool, FixedPool):
            return of_eksctl(pool.ami_family or "")
        node_class = self.node_class(pool)
        if isinstance(pool, NodePool) and pool.auto:
            # Bottlerocket (EKS user guide, ml-node-pools, commit 80436be5)
            return of_alias("bottlerocket")
        if node_class is None:
            return None
        return of_alias(node_class.ami_alias or "") or of_karpenter(node_class.ami_family or "")

    def most_nodes(self, pool: Pool, instance: InstanceType) -> int | None:
        """Nodes of a type that a pool's replicas and limits allow; ``None`` without any that is known."""
        if pool.unread:
            return None
        per_node = {
            "nodes": 1000,
            "cpu": instance.vcpus * 1000,
            "memory": instance.memory_mib * 1024**2 * 1000,
        }
        if instance.accelerator_resource:
            per_node[instance.accelerator_resource] = instance.accelerators * 1000
        bounds = [
            limit.milli // per_node[name]
            for name, limit in pool.limits.items()
            if per_node.get(name)
        ]
        if pool.replicas is not None:
            bounds.append(pool.replicas)
        return min(bounds, default=None)

    def starts_empty(self, pool: Pool) -> bool:
        """Whether a pool is known to have no node until a pod needs one."""
        if isinstance(pool, FixedPool):
            return pool.least == 0
        return pool.replicas is None and "replicas" not in pool.unread

    def block(self, pool: Pool) -> bool:
        """Whether a pool launches into Capacity Blocks only."""
        if isinstance(pool, FixedPool):
            return pool.block
        if pool.values(RESERVATION_TYPE) == ("capacity-block",):
            return True
        node_class = self.node_class(pool)
        return node_class is not None and BLOCK_ENDS in node_class.annotations

    def reservations(self, pool: Pool) -> Reserved:
        """The reservations that a pool selects."""
        if isinstance(pool, FixedPool):
            return Reserved(pool.reservations, pool.where("reservations"))
        node_class = self.node_class(pool)
        if node_class is None:
            return Reserved((), pool.at)
        ids = tuple(term.id for term in node_class.reservations)
        return Reserved(ids, node_class.where("reservations"))

    def placement_group(self, pool: Pool) -> PlacedIn | None:
        """The placement group of a pool's nodes, if they are in one."""
        node: FixedPool | NodeClass | None = self.node_class(pool)
        strategy = None
        if isinstance(pool, FixedPool):
            node, strategy = pool, pool.placement_strategy
        if node is None or not node.placement_group:
            return None
        name = node.placement_group
        return PlacedIn(name, strategy or self._strategies.get(name), node.where("placement_group"))

    @cached_property
    def _strategies(self) -> Mapping[str, str]:
        """Those of the placement groups that the bootstrap makes, by name."""
        bootstrap = self.plan.one(Bootstrap)
        made = bootstrap.placement_groups if bootstrap else ()
        return {group.name: group.strategy for group in made}

    def zones_of(self, pool: Pool) -> tuple[str, ...] | None:
        """The zones of a pool: those that it says, or else those of the subnets that it names."""
        if pool.zones is not None or not isinstance(pool, FixedPool) or not pool.subnets:
            return pool.zones
        zones = [self._zones_of_subnets.get(subnet) for subnet in pool.subnets]
        known = tuple(dict.fromkeys(zone for zone in zones if zone))
        return known if all(zones) else None

    def zones_of_all(self, pools: Iterable[Pool]) -> set[str] | None:
        """The zones of some pools together; ``None`` where those of one are not known."""
        zones: set[str] = set()
        for pool in pools:
            of_pool = self.zones_of(pool)
            if not of_pool:
                return None
            zones.update(of_pool)
        return zones

    @cached_property
    def _zones_of_subnets(self) -> Mapping[str, str]:
        cluster = self.plan.one(Cluster)
        subnets = cluster.network.subnets if cluster else ()
        return {subnet.id: subnet.zone for subnet in subnets}

    @cached_property
    def isolated(self) -> bool:
        """Whether the set says that nothing in the cluster reaches the internet: eksctl makes it fully private, or
        Karpenter takes its VPC for isolated (chart 1.14.1, `settings.isolatedVPC`)."""
        cluster = self.plan.one(Cluster)
        if cluster is not None and cluster.network.fully_private:
            return True
        return any(
            values.value_at(release.values, "settings", "isolatedVPC") is True
            for release in self.plan.of(HelmRelease)
            if release.chart == "karpenter"
        )

    @property
    def zones(self) -> set[str]:
        """The zones in which the cluster has subnets, where the set says them."""
        cluster = self.plan.one(Cluster)
        if cluster is None or cluster.network is None:
            return set()
        network = cluster.network
        of_subnets = {subnet.zone for subnet in network.subnets}
        return of_subnets.union(network.zones)

    def has_label(self, pool: Pool, key: str, value: str) -> bool | None:
        """Whether nodes of a pool carry a label; ``None`` if that cannot be known."""
        if key not in FACTS:
            return has_label(pool, (), key, value)
        value = in_catalog(pool, key, value)
        types = self.types(pool)
        if not types and named_types(pool, self.catalog):
            return None  # its requirements contradict each other: which one is meant is not known
        if not types and key == INSTANCE_TYPE:
            instance = self.catalog.instance(value)
            if instance is not None and unmet_requirements(pool, instance):
                return False
        return has_label(pool, types, key, value)

    def may_match(self, pool: Pool, labels: Mapping[str, str]) -> bool:
        """Whether nodes of a pool may carry all labels: nothing says that they do not."""
        return all(self.has_label(pool, key, value) is not False for key, value in labels.items())

    def kept_off(self, reach: tuple[Toleration, ...] | None) -> Iterator[tuple[Pool, Taint]]:
        """The pools whose taints keep pods with these tolerations away, each with the first such taint; none where
        nobody knows the tolerations."""
        if reach is None:
            return
        for pool in self.pools:
            left = untolerated(pool.taints, reach)
            if left:
                yield pool, left[0]

    def pools_of(self, flavor: Flavor) -> list[Pool]:
        """The pools whose nodes may belong to a flavor."""
        labels = flavor.node_labels
        return [pool for pool in self.pools if self.may_match(pool, labels)]
