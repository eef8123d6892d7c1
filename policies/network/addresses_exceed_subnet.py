from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.catalog import InstanceType
from trainyard.catalog.addresses import Warm, taken, warm
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.network.plan import Subnet
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity

_KEPT = 5
_PODS = 1


@rule("PLC049", severity=Severity.WARNING)
def addresses_exceed_subnet(cluster: Cluster, world: World) -> Iterator[Finding]:
    """The nodes of a zone take more addresses than its private subnets have.

    The VPC CNI attaches addresses before pods ask for them: an interface more than they need, with all the addresses
    of the instance type (amazon-vpc-cni-k8s v1.23.0, docs/eni-and-ip-target.md). eksctl gives a node group with EFA
    plain `efa` interfaces, of which each takes an address too (0.230.0), and AWS keeps five of each subnet. A subnet of
    /24 is used up by a few nodes of eight accelerators; the next ones start without an address for their pods. Counted
    are pools that are in one zone alone and whose size is known. Of a spec RES151 says it.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        vpc:
          id: vpc-0a1b2c3d4e5f60718
          subnets: {private: {us-west-2b: {id: subnet-0a1b2c3d4e5f60718, cidr: 10.0.1.0/24}}}
        managedNodeGroups:
          - name: gpu
            instanceType: p5.48xlarge
            availabilityZones: [us-west-2b]
            maxSize: 8
            efaEnabled: true
            nodeRepairConfig: {enabled: true}

    ## Passes

        # as the first that fails, but
        kind: ClusterConfig
        vpc: {subnets: {private: {us-west-2b: {cidr: 10.0.16.0/20}}}}
    """
    kept = _warm(cluster)
    if world.plan.closed or kept is None:
        return
    for zone, subnets in _private(cluster).items():
        room = _room(subnets)
        if room is None:
            continue
        pools = [pool for pool in world.pools if pool.zones == (zone,)]
        asked = sum(_addresses(pool, kept, world) for pool in pools)
        if asked > room:
            yield Finding(
                f"nodes in `{zone}` take {asked} addresses, and the private subnets there have {room}",
                subnets[0].at / "cidr",
                label="the last nodes have none for their pods",
                help="take larger subnets, fewer nodes, or `WARM_IP_TARGET` and `MINIMUM_IP_TARGET` of the VPC CNI",
            )


def _warm(cluster: Cluster) -> Warm | None:
    """What the CNI keeps ready; ``None`` where pods have subnets of their own."""
    for addon in cluster.addons:
        if addon.name == "vpc-cni":
            return warm(addon.values)
    return Warm()


def _private(cluster: Cluster) -> dict[str, list[Subnet]]:
    zones: dict[str, list[Subnet]] = {}
    for subnet in cluster.network.subnets:
        if not subnet.public:
            zones.setdefault(subnet.zone, []).append(subnet)
    return zones


def _room(subnets: list[Subnet]) -> int | None:
    """The addresses of subnets for their hosts; ``None`` where the block of one is not known."""
    room = 0
    for subnet in subnets:
        try:
            room += IPv4Network(subnet.cidr or "").num_addresses - _KEPT
        except ValueError:
            return None
    return room


def _addresses(pool: Pool, kept: Warm, world: World) -> int:
    """What all nodes of a pool take at least; 0 where its size or its types are not known."""
    asked: list[int] = []
    for instance in world.types(pool):
        nodes = world.most_nodes(pool, instance)
        if nodes is None:
            return 0
        asked.append(nodes * _of_node(pool, instance, kept, world))
    return min(asked, default=0)


def _of_node(pool: Pool, instance: InstanceType, kept: Warm, world: World) -> int:
    if isinstance(pool, FixedPool):
        if pool.efa:
            others = instance.efa_interfaces - 1
        else:
            others = 0
        return taken(instance, kept, _PODS, efa=False) + max(others, 0)
    node_class = world.node_class(pool)
    has_efa = node_class is not None and node_class.efa > 0
    return taken(instance, kept, _PODS, efa=has_efa)
