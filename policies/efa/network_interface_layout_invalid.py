from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog import InstanceType
from compiler.platforms.eks.nodes.plan import NodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("EFA006", aliases=("interface-layout",))
def network_interface_layout_invalid(node_class: NodeClass, world: World) -> Iterator[Finding]:
    """A node class has a network interface on a card that its instance type does not have, or that takes no EFA.

    No node is launched (EC2 user guide, efa-acc-inst-types). That a card takes one EFA, that no slot is there twice and
    which one is the primary interface are rules of the resource's definition (`SCH008`).

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          networkInterfaces:
            - {networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}
            - {networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only}
            - {networkCardIndex: 1, deviceIndex: 0, interfaceType: efa-only}
            - {networkCardIndex: 2, deviceIndex: 0, interfaceType: efa-only}
            - {networkCardIndex: 9, deviceIndex: 0, interfaceType: efa-only}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          networkInterfaces:
            - {networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}
            - {networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only}
            - {networkCardIndex: 1, deviceIndex: 0, interfaceType: efa-only}
            - {networkCardIndex: 2, deviceIndex: 0, interfaceType: efa-only}
            - {networkCardIndex: 3, deviceIndex: 0, interfaceType: efa-only}
    """
    if not node_class.interfaces:
        return
    types = {
        instance.name: instance
        for pool in world.pools_of_class(node_class)
        for instance in world.types(pool)
    }
    for instance in types.values():
        yield from _of_type(instance, node_class)


def _of_type(instance: InstanceType, node_class: NodeClass) -> Iterator[Finding]:
    """Cards that an instance type does not have, or that take no EFA; what is unknown of the type is no fault."""
    at = node_class.where("interfaces")
    if "network_cards" in instance.unknown:
        return
    used = {interface.card for interface in node_class.interfaces}
    known = {card.index for card in instance.network_cards}
    missing = sorted(used - known)
    if missing:
        yield Finding(
            f"`{instance.name}` has no network card {missing[0]}: it has {len(known)}",
            at / _index(node_class, missing[0]),
            help="write one node class for each instance type",
        )
        return
    without = sorted(set(_efa_cards(node_class)) - set(instance.efa_cards))
    if without:
        help = "take a type with EFA, or no interface with it"
        if instance.efa_cards:
            help = f"EFA goes on cards {', '.join(map(str, instance.efa_cards))}"
        yield Finding(
            f"network card {without[0]} of `{instance.name}` takes no EFA",
            at / _index(node_class, without[0]),
            help=help,
        )


def _efa_cards(node_class: NodeClass) -> list[int]:
    """The network cards with an EFA interface, once for each interface."""
    interfaces = node_class.interfaces
    return [interface.card for interface in interfaces if interface.type == "efa-only"]


def _index(node_class: NodeClass, card: int) -> int:
    """Which interface is on a card."""
    return next(
        index for index, interface in enumerate(node_class.interfaces) if interface.card == card
    )
