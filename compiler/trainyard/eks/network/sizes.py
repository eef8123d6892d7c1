"""Whether the subnets have enough addresses for the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.catalog.addresses import taken, usable, warm
from trainyard.core.network.spec import ExistingNetwork, NetworkSection
from trainyard.core.pools.pools import Pool
from trainyard.eks.settings.launcher import launcher_of
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

if TYPE_CHECKING:
    from trainyard.eks.network.plan import MadeNetwork

_OF_EKS = 16
"""Addresses of each subnet for EKS and load balancers (EKS user guide, network-reqs: 6 at least, 16 recommended)."""
_PODS = 1
"""Of a node, in addition to those on its own network: the training pod, the least there is."""
_CNI = "amazon-vpc-cni-k8s v1.23.0, docs/eni-and-ip-target.md"
_FEWER = (
    'keep fewer warm: `platform: {eks: {addons: {vpc-cni: {values: {env: {WARM_IP_TARGET: "2", '
    'MINIMUM_IP_TARGET: "12"}}}}}}`'
)


@dataclass(frozen=True, slots=True)
class _Room:
    """The addresses of a zone's private subnets, where that is said, and what gives it more of them."""

    zone: str
    what: str
    addresses: int
    at: Route
    larger: str
    endpoints: int = 0
    source: str = ""


def fits(context: Context, cidr: str, zones: tuple[str, ...], pools: dict[str, Pool]) -> None:
    """Whether the private subnets of a VPC that eksctl makes have enough addresses.

    eksctl cuts the block into 8 subnets (eksctl user guide, vpc-configuration), into 16 for more than four zones;
    AWS keeps 5 addresses of each (VPC user guide, subnet sizing).
    """
    if len(zones) <= 4:
        bits = 3
    else:
        bits = 4
    prefix = int(cidr.partition("/")[2]) + bits
    addresses = usable(f"0.0.0.0/{prefix}")
    at = SPEC / "network"
    if NetworkSection.of(context.spec).network.created.cidr:
        at = at / "create" / "cidr"
    larger = "write a larger block, like `10.0.0.0/16`, or import a VPC with larger subnets"
    rooms: list[_Room] = []
    for zone in zones:
        what = f"the private subnet in `{zone}` is a /{prefix} with {addresses} addresses"
        rooms.append(_Room(zone, what, addresses, at, larger))
    _have_room(context, rooms, pools)


def fits_made(context: Context, made: MadeNetwork, pools: dict[str, Pool]) -> None:
    """The same for a VPC of the bootstrap, whose endpoints have an address in each zone."""
    rooms: list[_Room] = []
    for subnet in made.subnets:
        zone = subnet.zone
        addresses = usable(subnet.private)
        what = f"the private subnet in `{zone}`, `{subnet.private}`, has {addresses} addresses"
        larger = f"write a larger block under `subnets: {{{zone}: …}}`"
        count = len(made.endpoints)
        room = _Room(zone, what, addresses, subnet.at, larger, count)
        rooms.append(room)
    _have_room(context, rooms, pools)


def fits_existing(context: Context, given: ExistingNetwork, pools: dict[str, Pool]) -> None:
    """The same for subnets that exist, in the zones of which all sizes are given."""
    rooms: list[_Room] = []
    for zone, subnets in given.private.items():
        known = [subnet.addresses for subnet in subnets]
        sizes = [size for size in known if size is not None]
        if len(sizes) < len(subnets):
            continue
        first = subnets[0]
        index = given.subnets.index(first)
        at = SPEC / "network" / "existing" / "subnets" / index
        room = _Room(
            zone,
            f"the private subnets in `{zone}` have {sum(sizes)} addresses",
            sum(sizes),
            at / first.sized_by,
            "add a private subnet of the zone, or take fewer nodes",
            source="VPC user guide, subnet sizing",
        )
        rooms.append(room)
    _have_room(context, rooms, pools)


def _have_room(context: Context, rooms: list[_Room], pools: dict[str, Pool]) -> None:
    """The nodes of each zone against its addresses, then those that may be in several against all of theirs."""
    enough = {room.zone: room for room in rooms if _has_room(context, room, list(pools.values()))}
    declared = pools.values()
    spread = [pool for pool in declared if len(pool.zones) > 1]
    several = {frozenset(pool.zones) for pool in spread}
    for zones in sorted(several, key=sorted):
        if zones <= enough.keys():
            declared = pools.values()
            within = [pool for pool in declared if zones.issuperset(pool.zones)]
            of_zones = [enough[zone] for zone in sorted(zones)]
            _have_room_together(context, of_zones, within)


def _have_room_together(context: Context, rooms: list[_Room], pools: list[Pool]) -> None:
    """A doubt where zones together have fewer addresses than the nodes that are in no other zone take."""
    of_nodes = _with_warm(context, pools)
    there = sum(room.addresses for room in rooms)
    kept = (_OF_EKS + room.endpoints for room in rooms)
    others = sum(kept)
    if of_nodes is None or of_nodes + others <= there:
        return
    zones = listed([room.zone for room in rooms])
    nodes = sum(pool.nodes for pool in pools)
    context.doubt(
        "RES151",
        f"the private subnets in {zones} have {there} addresses; "
        f"{nodes} nodes take {of_nodes} with those that the VPC "
        f"CNI keeps warm, and EKS and endpoints {others}",
        rooms[0].at,
        f"{rooms[0].larger}, or {_FEWER}",
        source=_CNI,
    )


def _has_room(context: Context, room: _Room, pools: list[Pool]) -> bool:
    """Whether the nodes that are in one zone alone have their addresses.

    A fault where not even nodes and their training pods fit, the least there is; a doubt where they do, and what the
    CNI keeps warm beside them does not.
    """
    only = (room.zone,)
    there = [pool for pool in pools if pool.zones == only]
    nodes = sum(pool.nodes for pool in there)
    least = nodes * (1 + _PODS)
    if least > room.addresses:
        context.fault(
            "RES026",
            f"{room.what}; {nodes} nodes and their pods need {least} at least",
            room.at,
            room.larger,
            source=room.source,
        )
        return False
    of_nodes = _with_warm(context, there)
    others = _OF_EKS + room.endpoints
    if not there or of_nodes is None:
        return True
    if of_nodes + others <= room.addresses:
        return True
    context.doubt(
        "RES151",
        f"{room.what}; {nodes} nodes take {of_nodes} with those that the VPC CNI keeps warm, and EKS and endpoints "
        f"{others}",
        room.at,
        f"{room.larger}, or {_FEWER}",
        source=_CNI,
    )
    return False


def _of_efa(pool: Pool) -> int:
    """The addresses of a node's interfaces with EFA on other cards than the first."""
    if not pool.efa:
        return 0
    return launcher_of(pool).efa_addresses(pool.instance)


def _with_warm(context: Context, pools: list[Pool]) -> int | None:
    """The addresses of all nodes of pools; ``None`` where pods have subnets of their own."""
    addons = ClusterSection.of(context.spec).eks.addons
    settings = addons.get("vpc-cni")
    kept = warm(settings.values if settings is not None else {})
    if kept is None:
        return None
    total = 0
    for pool in pools:
        each = [
            taken(instance, kept, _PODS, efa=pool.efa and launcher_of(pool).efa_only)
            for instance in pool.instances
        ]
        a_node = max(each) + _of_efa(pool)
        total += pool.nodes * a_node
    return total
