"""The zones of a pool: those that it names, or the only one possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainyard.catalog import InstanceType
from trainyard.core.network.spec import NetworkSection
from trainyard.core.network.zones import (
    catalog_zone,
    example_id,
    id_of_zone,
    in_region,
    knows_names,
    zones_named,
)
from trainyard.core.pools import spec as spec_nodes
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import Context

_ANYWHERE = 1000
"""More zones than any Region has: those of a type of which none is known."""


def zones_of(
    context: Context, pool: spec_nodes.NodePool, instances: Sequence[InstanceType], at: Route
) -> tuple[str, ...]:
    """The zones of a pool, where all of its types are to be had."""
    region = context.spec.region
    is_known = context.catalog.regions.get(region)
    absent = [
        (index, instance)
        for index, instance in enumerate(instances)
        if instance.zones and not instance.zones.get(region) and is_known
    ]
    for index, instance in absent:
        context.fault(
            "RES008",
            f"`{instance.name}` is not offered in {region}",
            at / "instanceTypes" / index,
            f"it is offered in {', '.join(sorted(instance.zones))}",
        )
    if absent:
        return ()
    if not pool.zones:
        return _derived_zone(context, pool, instances, at)
    fit = [
        _takes(context, instances, zone, at / "zones" / index)
        for index, zone in enumerate(pool.zones)
    ]
    if all(fit):
        return tuple(pool.zones)
    return ()


def _takes(context: Context, instances: Sequence[InstanceType], zone: str, at: Route) -> bool:
    """Whether a zone takes nodes of all types, as far as is known; a fault if it does not."""
    network = _network_zones(context)
    if not in_region(context, zone, at):
        return False
    offers = [_offered(context, instance, zone, at) for instance in instances]
    if not all(offers):
        return False
    if network and zone not in network:
        context.fault(
            "RES010",
            f"the network has no subnet in `{zone}`",
            at,
            f"the network is in {listed(network)}",
        )
        return False
    return True


def _offered(context: Context, instance: InstanceType, zone: str, at: Route) -> bool:
    """Whether a zone may have a type. An error only where it is known which zone a name is in the spec's account."""
    region = context.spec.region
    offered = instance.zones.get(region, ())
    name = catalog_zone(context, zone)
    if not offered or (name or zone) in offered:
        return True
    of_region = context.catalog.regions.get(region, ())
    if len(offered) == len(of_region):
        return True
    refresh = f"`trainyard catalog refresh --region {region}` asks EC2 in your account"
    if name is not None:
        named = listed(zones_named(context, offered))
        where = named or _ids(context, offered)
        context.fault(
            "RES008",
            f"`{instance.name}` is not offered in {_named(context, zone)}",
            at,
            f"it is offered in {where}; for newer offers, {refresh}",
        )
        return False
    if zone not in NetworkSection.of(context.spec).network.zone_ids:
        example = f"`network: {{zoneIds: {{{zone}: {example_id(context, zone)}}}}}`"
        context.doubt(
            "RES008",
            f"`{instance.name}` may not be offered in `{zone}`: "
            f"{region} has it in {_ids(context, offered)}, "
            "and names of zones differ by account",
            at,
            f"say which zone this is, like {example}; or {refresh}",
        )
    return True


def _named(context: Context, zone: str) -> str:
    zone_id = id_of_zone(context, zone)
    declared = NetworkSection.of(context.spec).network.zone_ids
    if zone_id and zone in declared:
        return f"`{zone}` ({zone_id})"
    return f"`{zone}`"


def _ids(context: Context, zones: Iterable[str]) -> str:
    """The ids of zones that the catalog names, which mean the same in every account."""
    zone_ids = context.catalog.zone_ids
    known = (zone_ids.get(zone, zone) for zone in zones)
    return listed(sorted(known))


def _derived_zone(
    context: Context, pool: spec_nodes.NodePool, instances: Sequence[InstanceType], at: Route
) -> tuple[str, ...]:
    region = context.spec.region
    network = _network_zones(context)
    if region not in context.catalog.regions:
        return ()  # the region has its own fault
    instance = min(instances, key=lambda each: len(each.zones.get(region, ())) or _ANYWHERE)
    offered = tuple(
        zone
        for zone in instance.zones.get(region, ())
        if all(not each.zones or zone in each.zones.get(region, ()) for each in instances)
    )
    known = context.catalog.regions[region]
    candidates = zones_named(context, offered)
    if offered and len(offered) == len(known):
        candidates = network or known
    if network:
        candidates = tuple(zone for zone in candidates if zone in network)
    certain = network or len(offered) == 1
    if len(candidates) == 1 and certain:
        context.derive(
            f"pool/{pool.name}",
            "zones",
            candidates[0],
            f"the only zone of {region} with {instance.name}",
            "EC2 DescribeInstanceTypeOfferings",
        )
        return tuple(candidates)
    if offered and not candidates and not knows_names(context):
        help = (
            f"add `zones:`; `{instance.name}` is offered in {_ids(context, offered)}, and "
            "`aws ec2 describe-availability-zones` lists your account's names of them"
        )
    else:
        fitting = candidates or network or known
        choices = listed(fitting) or f"a zone of {region}"
        help = f"add `zones:` with one of {choices}"
    context.fault("RES006", f"pool `{pool.name}` names no zone", at, help, key=True)
    return ()


def _network_zones(context: Context) -> tuple[str, ...]:
    """The zones that the spec's network names; empty when they are to be derived."""
    return NetworkSection.of(context.spec).network.zones
