from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import SecurityGroupStack, SecurityRule
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule


@rule("EFA031")
def security_group_one_way(group: SecurityGroupStack) -> Iterator[Finding]:
    """A security group for EFA lets all traffic between its members through in one direction alone.

    EFA needs a group that allows all traffic from itself and to itself; an address block, like the `0.0.0.0/0` of what
    leaves by default, is not enough, for its traffic has no addresses (EC2 user guide, efa-start): ranks never meet.
    A group is one for EFA where its name or description says so.

    ## Fails

        Resources:
          Efa:
            Type: AWS::EC2::SecurityGroup
            Properties: {GroupDescription: EFA between nodes}
          FromItself:
            Type: AWS::EC2::SecurityGroupIngress
            Properties: {GroupId: !Ref Efa, IpProtocol: "-1", SourceSecurityGroupId: !Ref Efa}

        Resources:
          EfaNodes: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: Nodes}}
          ToItself:
            Type: AWS::EC2::SecurityGroupEgress
            Properties: {GroupId: !GetAtt EfaNodes.GroupId, IpProtocol: "-1",
              DestinationSecurityGroupId: !GetAtt EfaNodes.GroupId}

    ## Passes

        Resources:
          Efa: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: EFA between nodes}}
          FromItself:
            Type: AWS::EC2::SecurityGroupIngress
            Properties: {GroupId: !Ref Efa, IpProtocol: "-1", SourceSecurityGroupId: !Ref Efa}
          ToItself:
            Type: AWS::EC2::SecurityGroupEgress
            Properties: {GroupId: !Ref Efa, IpProtocol: "-1", DestinationSecurityGroupId: !Ref Efa}

        network: {create: {nat: single}}
    """
    names = (group.logical, group.name or "", group.description or "")
    if "rules" in group.unread:
        return
    if not any("efa" in name.lower() for name in names):
        return
    own = [rule for rule in group.rules if _is_own(group, rule)]
    ways = {rule.outgoing for rule in own}
    if len(ways) == 1:
        (there,) = own[:1]
        kind = "Ingress" if there.outgoing else "Egress"
        way = "from" if there.outgoing else "to"
        help = worded(
            group,
            f'add an `AWS::EC2::SecurityGroup{kind}` with `IpProtocol: "-1"` and the group itself',
            f'add an `aws_vpc_security_group_{kind.lower()}_rule` with `ip_protocol = "-1"` and the group itself',
        )
        yield Finding(
            f"security group `{group.logical}` has no rule for all traffic {way} itself",
            there.at,
            label="EFA needs both directions",
            help=help,
        )


def _is_own(group: SecurityGroupStack, rule: SecurityRule) -> bool:
    return rule.protocol == "-1" and rule.peer == group.logical
