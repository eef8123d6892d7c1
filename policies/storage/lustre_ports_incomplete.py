from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.catalog.lustre import PORTS
from trainyard.core.cloud.plan import SecurityGroupStack, SecurityRule
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule

(_FIRST, _), _RANGE = PORTS
_OTHERS = range(_RANGE[0], _RANGE[1] + 1)


@rule("PLC048")
def lustre_ports_incomplete(group: SecurityGroupStack) -> Iterator[Finding]:
    """A security group lets Lustre's port 988 through, and not 1018 to 1023.

    Clients and servers of FSx for Lustre talk over TCP 988 and 1018 to 1023, in both directions (FSx for Lustre user
    guide, limit-access-security-groups). With 988 alone a file system mounts or does not, as its connections happen to
    come, and hangs later. Where a function gives rules or their ports, nothing is known.

    ## Fails

        Resources:
          Lustre:
            Type: AWS::EC2::SecurityGroup
            Properties:
              GroupDescription: Lustre
              SecurityGroupIngress: [{IpProtocol: tcp, FromPort: 988, ToPort: 988, CidrIp: 10.0.0.0/16}]

        Resources:
          Lustre: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: Lustre}}
          Ingress:
            Type: AWS::EC2::SecurityGroupIngress
            Properties: {GroupId: !Ref Lustre, IpProtocol: tcp, FromPort: 988, ToPort: 988,
              SourceSecurityGroupId: !Ref Lustre}

    ## Passes

        Resources:
          Lustre:
            Type: AWS::EC2::SecurityGroup
            Properties:
              GroupDescription: Lustre
              SecurityGroupIngress:
                - {IpProtocol: tcp, FromPort: 988, ToPort: 988, CidrIp: 10.0.0.0/16}
                - {IpProtocol: tcp, FromPort: 1018, ToPort: 1023, CidrIp: 10.0.0.0/16}

        Resources:
          Lustre: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: Lustre}}
          Ingress:
            Type: AWS::EC2::SecurityGroupIngress
            Properties: {GroupId: !Ref Lustre, IpProtocol: "-1", SourceSecurityGroupId: !Ref Lustre}

        network: {create: {nat: single}}
    """
    if "rules" in group.unread:
        return
    for outgoing in (False, True):
        rules = [rule for rule in group.rules if rule.outgoing == outgoing]
        missing = [port for port in _OTHERS if not _is_let(port, rules)]
        for opened in rules:
            if missing and opened.first == opened.last == _FIRST:
                yield Finding(
                    f"security group `{group.logical}` lets TCP {_FIRST} through, not {missing[0]} to {missing[-1]}",
                    opened.at,
                    label="Lustre needs them too",
                    help=worded(
                        group,
                        "add a rule like it with `FromPort: 1018` and `ToPort: 1023`",
                        "add a rule like it with `from_port = 1018` and `to_port = 1023`",
                    ),
                )


def _is_let(port: int, rules: Sequence[SecurityRule]) -> bool:
    return any(rule.lets(port) for rule in rules)
