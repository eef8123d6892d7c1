"""The cluster: eksctl's configuration and what must exist before and beside it."""

from __future__ import annotations

from typing import Any

from compiler.catalog import iam
from compiler.catalog.zones import WITHOUT_EKS
from compiler.diagnostics.diagnostic import listed
from compiler.plan.account import Account
from compiler.plan.cluster import (
    AccessEntry,
    Addon,
    Bootstrap,
    Cluster,
    Network,
    PlacementGroup,
    PodIdentity,
    Subnet,
)
from compiler.plan.nodes import NodeGroup
from compiler.resolve.context import SPEC, Context
from compiler.resolve.delivery import (
    flux_folder,
    folder,
    git_secret,
    interruption_queue,
)
from compiler.resolve.nodes import node_role, placement_group
from compiler.resolve.people import access_entries
from compiler.resolve.pools import Pool
from compiler.source import Route

SYSTEM = "system"
_CONTROLLER_ROLE = "KarpenterController-{}"
_BUCKET_ROLE = "MountpointS3-{}"
_ADDONS = (
    "vpc-cni",
    "coredns",
    "kube-proxy",
    "eks-pod-identity-agent",
    "metrics-server",
)


def cluster(context: Context, pools: dict[str, Pool]) -> Cluster:
    """eksctl's ClusterConfig."""
    spec = context.spec
    network = _network(context, pools)
    return Cluster(
        at=SPEC,
        name=context.name,
        region=spec.region,
        kubernetes=context.version("kubernetes"),
        network=network,
        origins={
            "region": SPEC / "region",
            "network": SPEC / "network",
            "name": SPEC,
            "access": SPEC / "admins",
        },
        tags={**spec.tags, "karpenter.sh/discovery": context.name},
        addons=_addons(context),
        pod_identities=_identities(context),
        access=(_nodes_entry(context),),
        node_groups=(_system(context),),
        auto_mode=False,
        log_types=("api", "audit", "authenticator"),
    )


def _network(context: Context, pools: dict[str, Pool]) -> Network:
    spec, at = context.spec.network, SPEC / "network"
    blocks = tuple(context.spec.api_server.public)
    # Nodes reach it inside the VPC in any case: from outside, their NAT addresses would have to be in the list as well
    # (EKS user guide, cluster-endpoint).
    reached: dict[str, Any] = {
        "public_endpoint": bool(blocks),
        "private_endpoint": True,
        "public_cidrs": blocks,
        "origins": {"public_cidrs": SPEC / "apiServer" / "public"},
    }
    if not blocks:
        context.derive(
            "cluster",
            "apiServer",
            "private",
            "no address block is named, so only the VPC reaches it",
            "EKS user guide, cluster-endpoint",
        )
    for zone, zone_id in spec.zone_ids.items():
        if context.in_region(zone, at / "zoneIds" / zone, key=True):
            _is_of_region(context, zone_id, at / "zoneIds" / zone)
    if spec.vpc is not None:
        for kind, zones_of in (
            ("private", spec.vpc.private),
            ("public", spec.vpc.public),
        ):
            for zone in zones_of:
                context.in_region(zone, at / "vpc" / kind / zone, key=True)
                _takes_eks(context, zone, at / "vpc" / kind / zone, key=True)
        subnets = [
            Subnet(at=at / "vpc" / "private" / zone, zone=zone, id=id)
            for zone, id in spec.vpc.private.items()
        ]
        subnets += [
            Subnet(at=at / "vpc" / "public" / zone, zone=zone, id=id, public=True)
            for zone, id in spec.vpc.public.items()
        ]
        return Network(at=at, vpc=spec.vpc.id, subnets=tuple(subnets), **reached)
    cidr = context.settle(
        "cluster",
        "network.cidr",
        spec.cidr,
        "10.0.0.0/16",
        "a new VPC, cut into subnets of /19",
        at=at / "cidr",
    )
    for index, zone in enumerate(spec.zones):
        context.in_region(zone, at / "zones" / index)
    zones = tuple(spec.zones) or _zones(context, pools)
    for index, zone in enumerate(spec.zones):
        _takes_eks(context, zone, at / "zones" / index)
    for pool in pools.values():
        for index, zone in enumerate(pool.zones if not spec.zones else ()):
            _takes_eks(
                context,
                zone,
                pool.at / "zone" if pool.spec.zone else pool.at / "zones" / index,
            )
    _fits(context, cidr, zones, pools)
    return Network(at=at, cidr=cidr, zones=zones, **reached)


def _is_of_region(context: Context, zone_id: str, at: Route) -> None:
    """A fault for the id of a zone of another region: ids of one region begin alike."""
    region = context.spec.region
    known = [
        context.catalog.zone_ids.get(zone, "")
        for zone in context.catalog.regions.get(region, ())
    ]
    starts = {each.partition("-")[0] for each in known if each}
    if starts and zone_id.partition("-")[0] not in starts:
        context.fault(
            "RES004",
            f"zone `{zone_id}` is not in region `{region}`",
            at,
            f"{region} has {listed(sorted(filter(None, known)))}",
        )


def _takes_eks(context: Context, zone: str, at: Route, *, key: bool = False) -> None:
    """A fault for a zone in which EKS takes no subnet; silent where nobody knows which zone a name is."""
    if (zone_id := context.zone_id(zone)) in WITHOUT_EKS:
        context.fault(
            "RES050",
            f"`{zone}` is zone `{zone_id}`, in which EKS takes no subnet of a cluster",
            at,
            f"take another zone of {context.spec.region}",
            key=key,
        )


def _fits(
    context: Context, cidr: str, zones: tuple[str, ...], pools: dict[str, Pool]
) -> None:
    """Whether the new private subnets have an address for each node and its one training pod, the least there is.

    eksctl cuts the block into 8 subnets (eksctl user guide, vpc-configuration), into 16 for more than four zones;
    AWS keeps 5 addresses of each (VPC user guide, subnet sizing).
    """
    prefix = int(cidr.partition("/")[2]) + (3 if len(zones) <= 4 else 4)
    usable = 2 ** (32 - prefix) - 5
    for zone in zones:
        there = [pool for pool in pools.values() if pool.zones == (zone,)]
        needed = 2 * sum(pool.nodes for pool in there)
        if needed > usable:
            route = (
                SPEC / "network" / "cidr"
                if context.spec.network.cidr
                else SPEC / "network"
            )
            context.fault(
                "RES026",
                f"the private subnet in `{zone}` is a /{prefix} with {usable} addresses; "
                f"{needed // 2} nodes and their pods need {needed} at least",
                route,
                "write a larger block, like `10.0.0.0/16`, or import a VPC with larger subnets",
            )


def _zones(context: Context, pools: dict[str, Pool]) -> tuple[str, ...]:
    """The pools' zones, and the first two of the Region that take system nodes, since EKS asks for two (EKS user guide,
    network-reqs). A pool that comes adds its zone and takes none away."""
    region = context.spec.region
    system = context.catalog.instance(context.spec.system.instance_type)
    offered = (
        system.zones.get(region, ()) if system else ()
    ) or context.catalog.regions.get(region, ())
    usable = [zone for zone in offered if context.zone_id(zone) not in WITHOUT_EKS]
    found = {*usable[:2], *(zone for pool in pools.values() for zone in pool.zones)}
    first = next(iter(sorted(found)), "")
    if len(found) == 1 and region in context.catalog.regions:
        context.fault(
            "RES038",
            f"EKS wants two zones, and those of `{region}` are not known beside `{first}`",
            SPEC / "region",
            f"write `network: {{zones: [{first}, …]}}`",
        )
    context.derive(
        "cluster",
        "network.zones",
        ", ".join(sorted(found)),
        "the pools' zones, and the first two of the Region for EKS",
    )
    return tuple(sorted(found))


def _addons(context: Context) -> tuple[Addon, ...]:
    found = []
    for name in _ADDONS:
        version = context.release.addons.get(name)
        role = iam.addon_role(name, context.partition)
        values = {"enableNetworkPolicy": "true"} if name == "vpc-cni" else {}
        found.append(
            Addon(
                name,
                version,
                values,
                (role.namespace, role.service_account),
                role.managed,
            )
            if role
            else Addon(name, version, values)
        )
    return tuple(found)


def _identities(context: Context) -> tuple[PodIdentity, ...]:
    """Those that every cluster has. The role of buckets may do nothing until a bucket's own stack lets it."""
    role = f"arn:{context.partition}:iam::{context.spec.account}:role/"
    return (
        PodIdentity(
            "kube-system",
            "karpenter",
            role_arn=role + _CONTROLLER_ROLE.format(context.name),
        ),
        PodIdentity(
            "kube-system",
            "s3-csi-driver-sa",
            role_arn=role + _BUCKET_ROLE.format(context.name),
        ),
    )


def _drivers(context: Context) -> tuple[PodIdentity, ...]:
    """Those of drivers that only some clusters have."""
    lustre = iam.addon_role("aws-fsx-csi-driver", context.partition)
    if lustre is None or not any(each.fsx_lustre for each in context.spec.storage):
        return ()
    return (PodIdentity(lustre.namespace, lustre.service_account, lustre.managed),)


def _nodes_entry(context: Context) -> AccessEntry:
    role = f"arn:{context.partition}:iam::{context.spec.account}:role/{node_role(context.name)}"
    return AccessEntry(role, "EC2_LINUX")


def _system(context: Context) -> NodeGroup:
    at, system = SPEC / "system", context.spec.system
    instance = context.instance(system.instance_type, at / "instanceType")
    if instance is not None and instance.accelerators:
        context.fault(
            "RES018",
            f"system nodes of `{instance.name}` have {instance.accelerators} accelerators",
            at / "instanceType",
            "take a general type, like `m7i.2xlarge`",
        )
    return NodeGroup(
        at=at,
        name=SYSTEM,
        instance_types=(system.instance_type,),
        min_size=system.nodes,
        max_size=system.nodes + 1,
        desired=system.nodes,
        ami_family="AmazonLinux2023",
        ami_release=_ami_release(context),
        private=True,
        volume=100,
        encrypted=True,
        labels={"trainyard.dev/role": SYSTEM},
        repair=True,
        origins={"instance_types": at / "instanceType", "desired": at / "nodes"},
    )


def _ami_release(context: Context) -> str | None:
    """The release of the system nodes' image, as EKS names it: the one that Karpenter's nodes boot, if it is AL2023."""
    known, chosen, tested = (
        context.release.ami_releases,
        context.version("ami"),
        context.release.versions["ami"],
    )
    alias = chosen if chosen in known else tested
    found = known[alias].get(context.version("kubernetes"))
    context.derive(
        "cluster",
        "system.ami",
        found,
        f"the release of {alias}: unpinned, two nodes may boot two images",
        context.release.sources["ami_releases"],
    )
    return found


def bootstrap(context: Context, pools: dict[str, Pool], needs: Account) -> Bootstrap:
    """What people or CI run once, before Flux."""
    spec, flux = context.spec, context.spec.flux
    groups = tuple(
        PlacementGroup(
            at=pool.at / "placement", name=name, pool=pool.name, strategy=pool.placement
        )
        for pool in pools.values()
        if pool.placement and (name := placement_group(context.name, pool))
    )
    return Bootstrap(
        at=SPEC,
        cluster=context.name,
        region=spec.region,
        partition=context.partition,
        account=spec.account,
        node_role=node_role(context.name),
        interruption_queue=interruption_queue(context.name),
        queue=iam.interruption_queue(
            context.partition,
            spec.region,
            spec.account,
            interruption_queue(context.name),
        ),
        controller_role=_CONTROLLER_ROLE.format(context.name),
        controller_trust=iam.pod_identity_trust(),
        controller_policies=iam.karpenter_policies(
            context.partition,
            spec.region,
            spec.account,
            context.name,
            interruption_queue(context.name),
            node_role=node_role(context.name),
        ),
        node_policies=tuple(iam.node_role_policies(context.partition)),
        interruption_rules=iam.interruption_rules(),
        bucket_role=_BUCKET_ROLE.format(context.name),
        access=access_entries(context),
        drivers=_drivers(context),
        zones=tuple(sorted(context.catalog.regions.get(spec.region, ()))),
        placement_groups=groups,
        eksctl_version=context.release.versions["eksctl"],
        flux_version=context.release.versions["flux"],
        flux_source=flux.source,
        flux_secret=git_secret(context),
        flux_folder=flux_folder(context),
        repository=flux.url,
        branch=flux.branch,
        path=folder(context),
        needs=needs,
        origins={
            "cluster": Route(("metadata", "name")),
            "drivers": SPEC / "storage",
        },
    )
