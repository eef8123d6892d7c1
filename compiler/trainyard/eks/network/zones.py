"""The zones of a VPC that the bootstrap creates."""

from __future__ import annotations

from trainyard.catalog.zones import WITHOUT_EKS
from trainyard.core.network.spec import NetworkSection
from trainyard.core.network.zones import id_of_zone, in_region
from trainyard.core.pools.pools import Pool, resolve_pools
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

AT_NETWORK = SPEC / "network"


def new_vpc(context: Context) -> tuple[str, tuple[str, ...]]:
    """The block and the zones of a VPC that is made."""
    created = NetworkSection.of(context.spec).network.created
    at = AT_NETWORK / "create"
    pools = context.once(resolve_pools)
    cidr = context.settle(
        "cluster",
        "network.cidr",
        created.cidr,
        "10.0.0.0/16",
        "a new VPC, cut into subnets of /19",
        at=at / "cidr",
    )
    for index, zone in enumerate(created.zones):
        in_region(context, zone, at / "zones" / index)
        takes_eks(context, zone, at / "zones" / index)
    zones = tuple(created.zones) or _zones(context, pools)
    if not created.zones:
        for pool in pools.values():
            for index, zone in enumerate(pool.zones):
                takes_eks(context, zone, pool.at / "zones" / index)
    return cidr, zones


def takes_eks(context: Context, zone: str, at: Route, *, key: bool = False) -> None:
    """A fault for a zone in which EKS takes no subnet; no fault where it is not known which zone a name is."""
    zone_id = id_of_zone(context, zone)
    if zone_id in WITHOUT_EKS:
        context.fault(
            "RES050",
            f"`{zone}` is zone `{zone_id}`, in which EKS takes no subnet of a cluster",
            at,
            f"take another zone of {context.spec.region}",
            key=key,
        )


def _zones(context: Context, pools: dict[str, Pool]) -> tuple[str, ...]:
    """The pools' zones, and the first two of the Region that take system nodes, since EKS asks for two (EKS user guide,
    network-reqs). A pool that comes adds its zone and takes none away."""
    region = context.spec.region
    system_type = ClusterSection.of(context.spec).eks.system_nodes.instance_type
    instance = context.catalog.instance(system_type)
    if instance:
        offered = instance.zones.get(region)
    else:
        offered = None
    region_zones = context.catalog.regions.get(region, ())
    usable = [
        zone for zone in offered or region_zones if id_of_zone(context, zone) not in WITHOUT_EKS
    ]
    zones = set(usable[:2])
    for pool in pools.values():
        zones.update(pool.zones)
    regions = context.catalog.regions
    if len(zones) == 1 and region in regions:
        (only,) = zones
        context.fault(
            "RES038",
            f"EKS needs two zones, and of `{region}` only `{only}` is known",
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
