"""Resolves the network: a VPC that eksctl creates, one that the bootstrap creates, or an existing one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trainyard.core.network.spec import ExistingNetwork, NetworkSection
from trainyard.core.network.zones import check_zones
from trainyard.core.pools.pools import resolve_pools
from trainyard.eks.network.made import made_network
from trainyard.eks.network.plan import VPC_ID, Network, PolicySwitch, Subnet
from trainyard.eks.network.sizes import fits, fits_existing, fits_made
from trainyard.eks.network.zones import AT_NETWORK, new_vpc, takes_eks
from trainyard.eks.settings.spec import AT_EKS, ClusterSection
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context

if TYPE_CHECKING:
    from trainyard.eks.network.plan import MadeNetwork


def resolve(context: Context) -> Iterator[PlanItem]:
    """The VPC that the bootstrap makes, where it does."""
    if NetworkSection.of(context.spec).network.cilium is not None:
        _one_enforcer(context)
    if NetworkSection.of(context.spec).network.is_made:
        yield context.once(made_network)
    if ClusterSection.of(context.spec).auto_mode is not None:
        yield PolicySwitch(at=AT_EKS / "autoMode")


def _one_enforcer(context: Context) -> None:
    """Of two that enforce network policies each drops what the other lets through."""
    addons = ClusterSection.of(context.spec).eks.addons
    settings = addons.get("vpc-cni")
    asked = None
    if settings is not None:
        asked = settings.values.get("enableNetworkPolicy")
    if str(asked).lower() == "true":
        context.fault(
            "RES185",
            "the VPC CNI and Cilium would both enforce network policies",
            AT_EKS / "addons" / "vpc-cni" / "values" / "enableNetworkPolicy",
            "remove it, or `network.cilium`",
            source="EKS user guide, cni-network-policy-configure; cilium v1.20.2, cni-chaining-aws-cni.rst",
        )


def network(context: Context) -> Network:
    """The VPC of the cluster, as eksctl's configuration has it."""
    spec = NetworkSection.of(context.spec).network
    pools = context.once(resolve_pools)
    reached = _reached(context)
    check_zones(context)
    if spec.existing is not None:
        fits_existing(context, spec.existing, pools)
        return _existing(context, spec.existing, AT_NETWORK / "existing", reached)
    if spec.is_made:
        made = context.once(made_network)
        fits_made(context, made, pools)
        return _made(made, reached)
    cidr, zones = new_vpc(context)
    fits(context, cidr, zones, pools)
    return Network(at=AT_NETWORK, cidr=cidr, zones=zones, **reached)


def _reached(context: Context) -> dict[str, Any]:
    """From where the Kubernetes API is reached."""
    eks = ClusterSection.of(context.spec).eks
    blocks = tuple(eks.api_server.public)
    if not blocks:
        context.derive(
            "cluster",
            "apiServer",
            "private",
            "no address block is named, so only the VPC reaches it",
            "EKS user guide, cluster-endpoint",
        )
    # Nodes reach it inside the VPC in any case: from outside, their NAT addresses would have to be in the list as well
    # (EKS user guide, cluster-endpoint).
    return {
        "public_endpoint": bool(blocks),
        "private_endpoint": True,
        "public_cidrs": blocks,
        "origins": {
            "cidr": AT_NETWORK / "create" / "cidr",
            "public_cidrs": AT_EKS / "apiServer" / "public",
        },
    }


def _made(made: MadeNetwork, reached: dict[str, Any]) -> Network:
    """The VPC of the bootstrap: eksctl finds its subnets by their blocks (0.230.0, pkg/vpc, describeSubnets)."""
    subnets = [
        Subnet(at=subnet.at, zone=subnet.zone, cidr=subnet.private) for subnet in made.subnets
    ]
    for subnet in made.subnets:
        if subnet.public is not None:
            public = Subnet(at=subnet.at, zone=subnet.zone, cidr=subnet.public, public=True)
            subnets.append(public)
    return Network(at=AT_NETWORK, vpc=VPC_ID, subnets=tuple(subnets), **reached)


def _existing(
    context: Context, given: ExistingNetwork, at: Route, reached: dict[str, Any]
) -> Network:
    """The VPC that the spec describes, private subnets first."""
    if len(given.private) < 2:
        context.fault(
            "RES347",
            "private subnets in fewer than two zones: EKS needs at least two",
            at / "subnets",
            "add a private subnet of another zone; it costs nothing by itself",
            source="EKS user guide, network-reqs",
        )
    subnets: list[Subnet] = []
    for index, subnet in enumerate(given.subnets):
        here = at / "subnets" / index
        takes_eks(context, subnet.zone, here / "zone")
        subnets.append(Subnet(at=here, zone=subnet.zone, id=subnet.id, public=subnet.public))
    subnets.sort(key=lambda subnet: subnet.public)
    return Network(at=SPEC / "network", vpc=given.vpc, subnets=tuple(subnets), **reached)
