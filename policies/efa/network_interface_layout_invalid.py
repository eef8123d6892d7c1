from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import InstanceType
from trainyard.core.launch.plan import Launch
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route


@rule("EFA006", aliases=("interface-layout",))
def network_interface_layout_invalid(launch: Launch, world: World) -> Iterator[Finding]:
    """A network interface of nodes is on a card that their instance type does not have, or that takes no EFA.

    No node is launched (EC2 user guide, efa-acc-inst-types). That a card takes one EFA, that no slot is there twice and
    which one is the primary interface are rules of the node class's definition (`SCH008`), and EFA072 for templates.

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

        # as the first that fails, but
        kind: EC2NodeClass
        spec: {networkInterfaces: [{}, {}, {}, {}, {networkCardIndex: 3}]}
    """
    if launch.interfaces:
        for instance in world.types_started(launch):
            yield from _of_type(instance, launch)


def _of_type(instance: InstanceType, launch: Launch) -> Iterator[Finding]:
    """Cards that an instance type does not have, or that take no EFA; what is unknown of the type is no fault."""
    if "network_cards" in instance.unknown:
        return
    used = {interface.card for interface in launch.interfaces}
    known = {card.index for card in instance.network_cards}
    missing = sorted(used - known)
    if missing:
        yield Finding(
            f"`{instance.name}` has no network card {missing[0]}: it has {len(known)}",
            _at(launch, missing[0]),
            help=f"write one {launch.called} for each instance type",
        )
        return
    without = sorted(set(_efa_cards(launch)) - set(instance.efa_cards))
    if without:
        help = "take a type with EFA, or no interface with it"
        if instance.efa_cards:
            help = f"EFA goes on cards {', '.join(map(str, instance.efa_cards))}"
        yield Finding(
            f"network card {without[0]} of `{instance.name}` takes no EFA",
            _at(launch, without[0]),
            help=help,
        )


def _efa_cards(launch: Launch) -> list[int]:
    """The network cards with an EFA interface, once for each interface."""
    interfaces = launch.interfaces
    return [interface.card for interface in interfaces if interface.type.startswith("efa")]


def _at(launch: Launch, card: int) -> Route:
    """The place of the first interface on a card."""
    return next(interface.at for interface in launch.interfaces if interface.card == card)
