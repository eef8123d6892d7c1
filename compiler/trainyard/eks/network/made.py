"""The network that the bootstrap creates: its blocks, NAT gateways and endpoints, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.core.network.spec import NetworkSection
from trainyard.eks import addons
from trainyard.eks.addons.addon import Endpoint
from trainyard.eks.network.plan import MadeNetwork, MadeSubnet
from trainyard.eks.network.zones import new_vpc
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

# Divides the block of a VPC into subnets.
#
# A subnet never changes its block, so what it is must follow from nothing that an edit changes: an eighth of the VPC is
# kept for each zone by its letter, `a` to `g`, and the last eighth, cut in eight again, for the public subnets. A zone
# or a pool that comes moves no other one.

LETTERS = "abcdefg"
_LONGEST = 28  # VPC user guide, subnet sizing: /16 to /28


def private_part(cidr: str, zone: str) -> str | None:
    """The block of a zone's private subnet; ``None`` where none is kept for its letter, or none is left."""
    part = _letter(zone)
    block = IPv4Network(cidr)
    if part is None or block.prefixlen + 3 > _LONGEST:
        return None
    return str(_eighth(block, part))


def public_part(cidr: str, zone: str) -> str | None:
    """The block of a zone's public subnet; ``None`` where none is kept for its letter, or none is left."""
    part = _letter(zone)
    block = IPv4Network(cidr)
    if part is None or block.prefixlen + 6 > _LONGEST:
        return None
    return str(_eighth(_eighth(block, 7), part))


def overlapping(blocks: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The names of blocks that share addresses, each pair once."""
    named = blocks.items()
    read = [(name, IPv4Network(block)) for name, block in named]
    for index, (name, block) in enumerate(read):
        for other, taken in read[:index]:
            if block.overlaps(taken):
                yield name, other


def _letter(zone: str) -> int | None:
    index = LETTERS.find(zone[-1:])
    return index if index >= 0 else None


def _eighth(block: IPv4Network, part: int) -> IPv4Network:
    size = block.num_addresses // 8
    first = block.network_address + part * size
    return IPv4Network((first, block.prefixlen + 3))


_AT = SPEC / "network" / "create"
_SIZES = "VPC user guide, subnet sizing"
_KARPENTER = "Karpenter v1.14 documentation, private clusters"
_EKS = "EKS user guide, private-clusters"


_NEEDS = (
    Endpoint("ec2", "nodes, the VPC CNI and Karpenter call EC2", _EKS),
    Endpoint("ecr.api", "nodes pull images from ECR", _EKS),
    Endpoint("ecr.dkr", "nodes pull images from ECR", _EKS),
    Endpoint("sts", "AWS SDKs ask who they are", _EKS),
    Endpoint("eks", "Karpenter looks the cluster up", _KARPENTER),
    Endpoint(
        "eks-auth", "pods get their roles by Pod Identity", "EKS user guide, pod-id-how-it-works"
    ),
    Endpoint("sqs", "Karpenter reads its interruption queue", _KARPENTER),
    Endpoint("ssm", "Karpenter looks AMIs up by SSM parameters", _KARPENTER),
    Endpoint(
        "ssmmessages",
        "the way to the private API by a system node is a session",
        "Systems Manager user guide, setup-create-vpc",
    ),
)


def made_network(context: Context) -> MadeNetwork:
    """The VPC of the bootstrap; what EC2 would refuse of it is reported."""
    created = NetworkSection.of(context.spec).network.created
    cidr, zones = new_vpc(context)
    context.derive(
        "cluster",
        "network.stack",
        "bootstrap/network.yaml",
        "eksctl makes no VPC with endpoints, or with blocks or NAT gateways that can change later",
        "eksctl 0.230.0, pkg/cfn/builder/vpc_ipv4.go",
    )
    nat = context.settle(
        "cluster",
        "network.nat",
        created.nat,
        "perZone",
        "a zone that fails takes no other one's way out with it",
        "VPC user guide, nat-gateway-basics",
        at=_AT / "nat",
    )
    for zone in created.subnets:
        if zone not in zones:
            context.fault(
                "RES150",
                f"a block is given for `{zone}`, in which the VPC has no subnet",
                _AT / "subnets" / zone,
                f"its zones are {listed(zones)}; add it to `zones`, or remove it",
                key=True,
            )
    subnets = _subnets(context, cidr, zones, public=nat != "none")
    _within(context, cidr)
    _apart(context, subnets)
    return MadeNetwork(
        at=_AT,
        cluster=context.name,
        region=context.spec.region,
        cidr=cidr,
        subnets=subnets,
        nat=nat,
        endpoints=_endpoints(context, isolated=nat == "none"),
        tags={**context.spec.tags, "karpenter.sh/discovery": context.name},
        origins={"cidr": _AT / "cidr", "nat": _AT / "nat", "endpoints": _AT / "endpoints"},
    )


def _subnets(
    context: Context, cidr: str, zones: tuple[str, ...], *, public: bool
) -> tuple[MadeSubnet, ...]:
    given = NetworkSection.of(context.spec).network.created.subnets
    subnets: list[MadeSubnet] = []
    for zone in zones:
        private = given.get(zone)
        at = _AT
        if private is not None:
            at = _AT / "subnets" / zone
            context.given("cluster", f"network.subnets.{zone}", private, at)
        else:
            private = private_part(cidr, zone)
            context.derive(
                "cluster",
                f"network.subnets.{zone}",
                private,
                f"the eighth of {cidr} that is kept for zones whose name ends in `{zone[-1:]}`: no edit moves it",
                _SIZES,
            )
        if public:
            outside = public_part(cidr, zone)
        else:
            outside = None
        if private is None or (public and outside is None):
            _no_room(context, cidr, zone)
            continue
        subnets.append(MadeSubnet(zone, private, outside, at))
    return tuple(subnets)


def _no_room(context: Context, cidr: str, zone: str) -> None:
    context.fault(
        "RES150",
        f"`{cidr}` has no blocks for the subnets of `{zone}`",
        _AT / "cidr",
        "take a block of /22 or larger, and zones whose names end in `a` to `g`",
        source=_SIZES,
    )


def _within(context: Context, cidr: str) -> None:
    """A fault for each given block that is no part of the VPC's."""
    whole = IPv4Network(cidr)
    created = NetworkSection.of(context.spec).network.created
    for zone, block in created.subnets.items():
        if not IPv4Network(block).subnet_of(whole):
            context.fault(
                "RES150",
                f"block `{block}` of `{zone}` is not within that of the VPC, `{cidr}`",
                _AT / "subnets" / zone,
                "take a part of the VPC's block, or a larger `cidr`",
                source=_SIZES,
            )


def _apart(context: Context, subnets: tuple[MadeSubnet, ...]) -> None:
    """A fault for subnets that share addresses."""
    blocks: dict[str, str] = {}
    places: dict[str, Route] = {}
    for subnet in subnets:
        blocks[subnet.zone] = subnet.private
        places[subnet.zone] = subnet.at
        if subnet.public is not None:
            name = f"the public subnet of {subnet.zone}"
            blocks[name] = subnet.public
            places[name] = _AT
    for name, other in overlapping(blocks):
        at = max(places[name], places[other], key=len)
        context.fault(
            "RES150",
            f"the blocks of {name} (`{blocks[name]}`) and {other} (`{blocks[other]}`) overlap",
            at,
            "write blocks under `subnets` that share no address; the last eighth of the VPC is that of public subnets",
            source=_SIZES,
        )


def _of_addons(context: Context) -> Iterator[Endpoint]:
    for addon in addons.installed(context):
        yield from addon.endpoints(context)


def _endpoints(context: Context, *, isolated: bool) -> tuple[str, ...]:
    """The interface endpoints: those of the spec, and without NAT those that the cluster needs."""
    given = NetworkSection.of(context.spec).network.created.endpoints
    services = set[str](given)
    for index, service in enumerate(given):
        at = _AT / "endpoints" / index
        context.given("cluster", f"network.endpoints.{service}", service, at)
    needed = (*_NEEDS, *_of_addons(context)) if isolated else ()
    for need in needed:
        if need.service not in services:
            services.add(need.service)
            context.derive(
                "cluster",
                f"network.endpoints.{need.service}",
                need.service,
                f"without NAT: {need.why}",
                need.source,
                follows=_AT / "nat",
            )
    if services and context.partition == "aws-cn":
        context.fault(
            "RES154",
            f"the names of interface endpoints in `{context.spec.region}` are not known",
            _AT / ("endpoints" if given else "nat"),
            "make the VPC yourself, and give its ids as `network: {existing: …}`",
            source="VPC user guide of Amazon Web Services in China, aws-services-privatelink-support",
        )
    return tuple(sorted(services))
