from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.core.launch.plan import LaunchTemplate
from trainyard.judge.model.worded import spelled
from trainyard.judge.policy.rule import Finding, rule


@rule("EFA072")
def launch_template_interfaces_refused(template: LaunchTemplate) -> Iterator[Finding]:
    """The network interfaces of a launch template contradict each other, and EC2 launches nothing.

    Each place of a card and a device is there once, a card takes one EFA, and the primary interface (card 0, device 0)
    is never `efa-only` (EC2 user guide, efa-acc-inst-types). A template with interfaces and none at device 0 of card 0
    waits for the primary one from whoever launches, which node groups of EKS and Auto Scaling do not say; and security
    groups are those of each interface, as the template has none beside them (EC2 API,
    LaunchTemplateInstanceNetworkInterfaceSpecificationRequest; AWS PCS user guide, networking_efa_create-lt).
    For node classes these are rules of the definition (`SCH008`).

    ## Fails

        Resources:
          Gpu:
            Type: AWS::EC2::LaunchTemplate
            Properties:
              LaunchTemplateData:
                NetworkInterfaces:
                  - {NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa}
                  - {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: efa}
                  - {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: efa}

        Resources:
          Gpu:
            Type: AWS::EC2::LaunchTemplate
            Properties:
              LaunchTemplateData:
                SecurityGroupIds: [sg-0a1b2c3d4e5f60718]
                NetworkInterfaces:
                  - {NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa}
                  - {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: efa}

    ## Passes

        Resources:
          Gpu:
            Type: AWS::EC2::LaunchTemplate
            Properties:
              LaunchTemplateData:
                NetworkInterfaces:
                  - {NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa, Groups: [sg-0a1b2c3d4e5f60718]}
                  - {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: efa, Groups: [sg-0a1b2c3d4e5f60718]}
    """
    interfaces = template.interfaces
    if not interfaces:
        return
    if template.security_groups:
        field = spelled(template, "NetworkInterfaces")
        yield Finding(
            f"{template.words} has security groups beside `{field}`",
            template.where("security_groups"),
            key=True,
            label="EC2 takes one or the other",
            help="write them into each interface",
        )
    places: Counter[tuple[int, int]] = Counter()
    efa: Counter[int] = Counter()
    for each in interfaces:
        slot = (each.card, each.device)
        wrong = ""
        if places[slot]:
            wrong = f"card {each.card}, device {each.device} is there twice"
        elif each.type == "efa-only" and slot == _PRIMARY:
            wrong = "the primary interface is `efa-only`, which has no address"
        elif each.type.startswith("efa") and efa[each.card]:
            wrong = f"card {each.card} has two EFAs, and takes one"
        places[slot] += 1
        efa[each.card] += each.type.startswith("efa")
        if wrong:
            yield Finding(
                f"in {template.words} {wrong}",
                each.at,
                label="EC2 refuses the launch",
                help="card 0, device 0 is `efa` or `interface`, and each further card has one `efa` or `efa-only`",
            )
    if _PRIMARY not in places and "interfaces" not in template.unread:
        yield Finding(
            f"{template.words} has interfaces, and none is the primary one",
            template.where("interfaces"),
            key=True,
            label="EC2 refuses the launch",
            help="add one for card 0, device 0",
        )


_PRIMARY = (0, 0)
