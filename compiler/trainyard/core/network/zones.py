"""Finds which zone of the catalog a name in the spec means; zone names differ between accounts."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.core.network.spec import NetworkSection
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context


def knows_names(context: Context) -> bool:
    """Whether the catalog's names of zones are those of the spec's account."""
    return context.catalog.knows_names(context.spec.region, context.spec.account)


def catalog_zone(context: Context, zone: str) -> str | None:
    """The catalog's name for a zone of the spec's account; ``None`` where it is not known which zone that is."""
    network = NetworkSection.of(context.spec).network
    given = network.zone_ids.get(zone)
    if given is None:
        return zone if knows_names(context) else None
    for name, zone_id in context.catalog.zone_ids.items():
        if zone_id == given:
            return name
    return None


def id_of_zone(context: Context, zone: str) -> str | None:
    """The id of a zone of the spec's account, if it is known."""
    network = NetworkSection.of(context.spec).network
    given = network.zone_ids.get(zone)
    if given is None and knows_names(context):
        return context.catalog.zone_ids.get(zone)
    return given


def example_id(context: Context, zone: str) -> str:
    """The id that the catalog has for the name of a zone, or else that of another one of the Region."""
    zone_ids = context.catalog.zone_ids
    names = (zone, *context.catalog.regions[context.spec.region])
    return next(zone_ids[name] for name in names if name in zone_ids)


def zones_named(context: Context, names: Iterable[str]) -> tuple[str, ...]:
    """The names in the spec's account of zones that the catalog names, as far as they are known."""
    zone_ids = NetworkSection.of(context.spec).network.zone_ids
    own_names = {catalog_zone(context, zone): zone for zone in zone_ids}
    known = []
    for name in names:
        if name in own_names:
            known.append(own_names[name])
        elif knows_names(context):
            known.append(name)
    return tuple(known)


def in_region(context: Context, zone: str, at: Route, *, key: bool = False) -> bool:
    """Whether a zone is one of the region's; a fault if it is not. Where they are not known, its name decides."""
    region = context.spec.region
    known = context.catalog.regions.get(region)
    if known is None or zone in known:
        return True  # an unknown region has its own fault
    is_known = known and (knows_names(context) or not context.catalog.may_be_zone(zone))
    if is_known or zone[:-1] != region:
        context.fault(
            "RES004",
            f"zone `{zone}` is not in region `{region}`",
            at,
            f"{region} has {listed(known)}" if known else f"write it like `{region}a`",
            key=key,
        )
        return False
    network = NetworkSection.of(context.spec).network
    if known and zone not in network.zone_ids:
        example = example_id(context, zone)
        context.doubt(
            "RES004",
            f"`{zone}` may not be a zone of your account: {listed(known)} are known of {region}, and "
            "names differ by account",
            at,
            f"correct it, or say which zone it is, like `network: {{zoneIds: {{{zone}: {example}}}}}`",
        )
    return True


def check_zones(context: Context) -> None:
    """Report zones of subnets and of ``network.zoneIds`` that the Region does not have, and ids of zones of another
    Region."""
    network = NetworkSection.of(context.spec).network
    subnets = network.existing.subnets if network.existing is not None else ()
    for index, subnet in enumerate(subnets):
        in_region(context, subnet.zone, SPEC / "network" / "existing" / "subnets" / index / "zone")
    for zone, zone_id in network.zone_ids.items():
        at = SPEC / "network" / "zoneIds" / zone
        if in_region(context, zone, at, key=True):
            _is_of_region(context, zone_id, at)


def _is_of_region(context: Context, zone_id: str, at: Route) -> None:
    """A fault for the id of a zone of another region: ids of one region begin alike."""
    region = context.spec.region
    zones = context.catalog.regions.get(region, ())
    zone_ids = context.catalog.zone_ids
    named = [zone_ids.get(zone) for zone in zones]
    known = sorted(known_id for known_id in named if known_id)
    starts = {known_id.partition("-")[0] for known_id in known}
    if starts and zone_id.partition("-")[0] not in starts:
        context.fault(
            "RES004",
            f"zone `{zone_id}` is not in region `{region}`",
            at,
            f"{region} has {listed(known)}",
        )
