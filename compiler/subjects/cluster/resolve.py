"""The cluster: eksctl's configuration and what must exist before and beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from compiler.catalog.zones import WITHOUT_EKS
from compiler.diagnostics.diagnostic import listed
from compiler.plan import PlanNode
from compiler.resolve.context import SPEC, Context
from compiler.source import Route
from compiler.subjects import addons
from compiler.subjects.addons.addon import EKS, HELM, MANIFESTS, AddOn, Setting
from compiler.subjects.cluster.plan import (
    AccessEntry,
    Addon,
    Cluster,
    Network,
    PodIdentity,
    Subnet,
)
from compiler.subjects.cluster.principals import (
    AT_EKS,
    check_principals,
    node_role_arn,
)
from compiler.subjects.cluster.spec import ClusterSection
from compiler.subjects.delivery.resolve import setting
from compiler.subjects.network.spec import NetworkSection
from compiler.subjects.overrides.values import overridden
from compiler.subjects.pools.plan import NodeGroup
from compiler.subjects.pools.pools import Pool, resolve_pools

if TYPE_CHECKING:
    from compiler.subjects.network.forms.existing import ExistingNetwork

SYSTEM = "system"


def resolve(context: Context) -> Iterator[PlanNode]:
    """The cluster, as eksctl creates it."""
    check_principals(context)
    yield context.once(cluster)


def cluster(context: Context) -> Cluster:
    """eksctl's ClusterConfig."""
    spec = context.spec
    pools = context.once(resolve_pools)
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
            "access": AT_EKS / "admins",
            "addons": AT_EKS / "addons",
        },
        tags={**spec.tags, "karpenter.sh/discovery": context.name},
        addons=_addons(context.once(setting)),
        pod_identities=_identities(context),
        access=(_nodes_entry(context),),
        node_groups=(_system(context),),
        auto_mode=False,
        log_types=("api", "audit", "authenticator"),
    )


def _network(context: Context, pools: dict[str, Pool]) -> Network:
    spec, at = NetworkSection.of(context.spec).network, SPEC / "network"
    blocks = tuple(ClusterSection.of(context.spec).eks.api_server.public)
    # Nodes reach it inside the VPC in any case: from outside, their NAT addresses would have to be in the list as well
    # (EKS user guide, cluster-endpoint).
    reached: dict[str, Any] = {
        "public_endpoint": bool(blocks),
        "private_endpoint": True,
        "public_cidrs": blocks,
        "origins": {"public_cidrs": AT_EKS / "apiServer" / "public"},
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
    if spec.existing is not None:
        _fits_existing(context, spec.existing, pools)
        return _existing(context, spec.existing, at / "existing", reached)
    at, created = at / "create", spec.created
    cidr = context.settle(
        "cluster",
        "network.cidr",
        created.cidr,
        "10.0.0.0/16",
        "a new VPC, cut into subnets of /19",
        at=at / "cidr",
    )
    for index, zone in enumerate(created.zones):
        context.in_region(zone, at / "zones" / index)
        _takes_eks(context, zone, at / "zones" / index)
    zones = tuple(created.zones) or _zones(context, pools)
    if not created.zones:
        for pool in pools.values():
            for index, zone in enumerate(pool.zones):
                _takes_eks(context, zone, pool.at / "zones" / index)
    _fits(context, cidr, zones, pools)
    return Network(at=SPEC / "network", cidr=cidr, zones=zones, **reached)


def _existing(
    context: Context, given: ExistingNetwork, at: Route, reached: dict[str, Any]
) -> Network:
    """The VPC that the spec describes, private subnets first."""
    subnets: list[Subnet] = []
    for index, subnet in enumerate(given.subnets):
        here = at / "subnets" / index
        context.in_region(subnet.zone, here / "zone")
        _takes_eks(context, subnet.zone, here / "zone")
        subnets.append(
            Subnet(at=here, zone=subnet.zone, id=subnet.id, public=subnet.public)
        )
    subnets.sort(key=lambda subnet: subnet.public)
    return Network(
        at=SPEC / "network", vpc=given.vpc, subnets=tuple(subnets), **reached
    )


def _is_of_region(context: Context, zone_id: str, at: Route) -> None:
    """A fault for the id of a zone of another region: ids of one region begin alike."""
    region = context.spec.region
    zones = context.catalog.regions.get(region, ())
    zone_ids = context.catalog.zone_ids
    known = sorted(zone_ids[zone] for zone in zones if zone_ids.get(zone))
    starts = {known_id.partition("-")[0] for known_id in known}
    if starts and zone_id.partition("-")[0] not in starts:
        context.fault(
            "RES004",
            f"zone `{zone_id}` is not in region `{region}`",
            at,
            f"{region} has {listed(known)}",
        )


def _takes_eks(context: Context, zone: str, at: Route, *, key: bool = False) -> None:
    """A fault for a zone in which EKS takes no subnet; no fault where it is not known which zone a name is."""
    zone_id = context.zone_id(zone)
    if zone_id in WITHOUT_EKS:
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
    at = SPEC / "network"
    if NetworkSection.of(context.spec).network.created.cidr:
        at = at / "create" / "cidr"
    for zone in zones:
        nodes = _nodes_in(zone, pools)
        if 2 * nodes > usable:
            context.fault(
                "RES026",
                f"the private subnet in `{zone}` is a /{prefix} with {usable} addresses; "
                f"{nodes} nodes and their pods need {2 * nodes} at least",
                at,
                "write a larger block, like `10.0.0.0/16`, or import a VPC with larger subnets",
            )


def _nodes_in(zone: str, pools: dict[str, Pool]) -> int:
    """The nodes of the pools that are in this zone alone."""
    return sum(pool.nodes for pool in pools.values() if pool.zones == (zone,))


def _fits_existing(
    context: Context, given: ExistingNetwork, pools: dict[str, Pool]
) -> None:
    """The same for subnets that exist, in the zones all of whose blocks are given."""
    for zone, subnets in given.private.items():
        blocks = [subnet.cidr for subnet in subnets if subnet.cidr is not None]
        if len(blocks) < len(subnets):
            continue
        usable = sum(IPv4Network(block).num_addresses - 5 for block in blocks)
        nodes = _nodes_in(zone, pools)
        if 2 * nodes > usable:
            index = given.subnets.index(subnets[0])
            context.fault(
                "RES026",
                f"the private subnets in `{zone}` have {usable} addresses; {nodes} nodes and their pods need "
                f"{2 * nodes} at least",
                SPEC / "network" / "existing" / "subnets" / index / "cidr",
                "add a private subnet of the zone, or take fewer nodes",
                source="VPC user guide, subnet sizing",
            )


def _zones(context: Context, pools: dict[str, Pool]) -> tuple[str, ...]:
    """The pools' zones, and the first two of the Region that take system nodes, since EKS asks for two (EKS user guide,
    network-reqs). A pool that comes adds its zone and takes none away."""
    region = context.spec.region
    system_type = ClusterSection.of(context.spec).eks.system_nodes.instance_type
    instance = context.catalog.instance(system_type)
    offered = instance.zones.get(region) if instance else None
    region_zones = context.catalog.regions.get(region, ())
    usable = [
        zone
        for zone in offered or region_zones
        if context.zone_id(zone) not in WITHOUT_EKS
    ]
    zones = set(usable[:2])
    for pool in pools.values():
        zones.update(pool.zones)
    if len(zones) == 1 and region in context.catalog.regions:
        (only,) = zones
        context.fault(
            "RES038",
            f"EKS wants two zones, and those of `{region}` are not known beside `{only}`",
            SPEC / "region",
            f"write `network: {{create: {{zones: [{only}, …]}}}}`",
        )
    context.derive(
        "cluster",
        "network.zones",
        ", ".join(sorted(zones)),
        "the pools' zones, and the first two of the Region for EKS",
    )
    return tuple(sorted(zones))


def _addons(setting: Setting) -> tuple[Addon, ...]:
    """Those of every cluster, with what the spec changes of them, and those of its own."""
    context = setting.context
    own = ClusterSection.of(context.spec).eks.addons
    values = {name: settings.values for name, settings in own.items()}
    ours = {addon.component: addon for addon in addons.wanted(context, EKS)}
    charts = {
        name for name, addon in addons.addons().items() if addon.by in (HELM, MANIFESTS)
    }
    installed = [
        _addon(setting, addon, values.get(name, {})) for name, addon in ours.items()
    ]
    for name, settings in own.items():
        if name in charts:
            context.fault(
                "RES070",
                f"add-on `{name}` would be installed twice: Flux installs its chart",
                AT_EKS / "addons" / name,
                "remove it: one owner for each controller",
                key=True,
            )
        elif name not in ours:
            installed.append(Addon(name, context.build(name), settings.values))
    return tuple(installed)


def _addon(setting: Setting, addon: AddOn, own: Mapping[str, Any]) -> Addon:
    context, name = setting.context, addon.component
    at = AT_EKS / "addons" / name / "values"
    build = context.build(name)
    values, _ = overridden(context, name, addon.values(setting), own, at)
    role = addon.role
    if role is None:
        return Addon(name, build, values)
    account = (role.namespace, role.service_account)
    return Addon(name, build, values, account, role.policy_arns(context.partition))


def _identities(context: Context) -> tuple[PodIdentity, ...]:
    """Those of roles that the bootstrap makes for every cluster."""
    prefix = f"arn:{context.partition}:iam::{context.spec.account}:role/"
    identities = []
    for addon in addons.addons().values():
        role = addon.role
        if role is not None and role.own:
            arn = prefix + role.named(context.name)
            identities.append(
                PodIdentity(role.namespace, role.service_account, role_arn=arn)
            )
    return tuple(sorted(identities, key=attrgetter("namespace", "service_account")))


def drivers(context: Context) -> tuple[PodIdentity, ...]:
    """Those of charts that only some clusters have."""
    identities = []
    for addon in addons.wanted(context, HELM):
        role = addon.role
        if role is not None and role.managed:
            arns = role.policy_arns(context.partition)
            identities.append(PodIdentity(role.namespace, role.service_account, arns))
    return tuple(identities)


def role_name(context: Context, component: str) -> str:
    """The name of the role that the bootstrap makes for an add-on."""
    role = addons.addons()[component].role
    return role.named(context.name) if role is not None else ""


def _nodes_entry(context: Context) -> AccessEntry:
    return AccessEntry(node_role_arn(context), "EC2_LINUX")


def _system(context: Context) -> NodeGroup:
    at, system = (
        AT_EKS / "systemNodes",
        ClusterSection.of(context.spec).eks.system_nodes,
    )
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
    ami = context.release.components["ami"]
    chosen, tested = context.version("ami"), context.release.version("ami")
    alias = chosen if chosen in ami.builds else tested
    build = ami.builds[alias].get(context.version("kubernetes"))
    context.derive(
        "cluster",
        "system.ami",
        build,
        f"the release of {alias}: unpinned, two nodes may boot two images",
        ami.builds_source,
    )
    return build
