from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.nodes import NodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("EFA006", aliases=("interface-layout",))
def network_interface_layout_invalid(
    node_class: NodeClass, world: World
) -> Iterator[Finding]:
    """The network interfaces of a node class are not a layout that EC2 takes.

    The primary interface is card 0, device 0, of type `interface`; a card takes one EFA; no slot twice; and the
    cards must exist (EC2 user guide, efa-acc-inst-types; karpenter.k8s.aws/v1 EC2NodeClass). Otherwise no node is
    launched.

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
    slots = {(each.card, each.device): each.type for each in node_class.interfaces}
    cards = [each.card for each in node_class.interfaces if each.type == "efa-only"]
    at = node_class.where("interfaces")
    if slots.get((0, 0)) != "interface":
        yield Finding(
            "card 0 device 0, the primary interface, is not of type `interface`",
            at,
            help="make it `interfaceType: interface`",
        )
    if len(slots) < len(node_class.interfaces):
        yield Finding(
            "a slot (network card and device) is used twice",
            at,
            help="list each slot once",
        )
    if len(set(cards)) < len(cards):
        yield Finding(
            "a network card has two EFA interfaces",
            at,
            help="one `efa-only` for each card",
        )
    types = {
        each.name: each
        for pool in world.pools_of_class(node_class)
        for each in world.types(pool)
    }
    for instance in types.values():
        known = {each.index for each in instance.network_cards}
        missing = (
            sorted({each.card for each in node_class.interfaces} - known)
            if known
            else []
        )
        without = (
            sorted(set(cards) - set(instance.efa_cards) - set(missing))
            if instance.efa_cards
            else []
        )
        if missing:
            yield Finding(
                f"`{instance.name}` has no network card {missing[0]}: it has {len(known)}",
                at / _index(node_class, missing[0]),
                help="make one node class for each instance type",
            )
        elif without:
            yield Finding(
                f"network card {without[0]} of `{instance.name}` takes no EFA",
                at / _index(node_class, without[0]),
                help=f"EFA goes on cards {', '.join(map(str, instance.efa_cards))}",
            )


def _index(node_class: NodeClass, card: int) -> int:
    """Which interface is on a card."""
    return next(
        index for index, each in enumerate(node_class.interfaces) if each.card == card
    )
