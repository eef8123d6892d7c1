from __future__ import annotations

from collections.abc import Iterator

from compiler.policy.rule import Finding, rule
from compiler.subjects.cloud.plan import Ports, SecurityGroupStack

_LUSTRE = 988
_OTHERS = range(1018, 1024)
_ANY = ("-1", "all")


@rule("ACC022")
def lustre_ports_incomplete(group: SecurityGroupStack) -> Iterator[Finding]:
    """A security group opens a part of the ports of Lustre.

    Clients and servers of FSx for Lustre talk over TCP port 988 and the ports 1018 to 1023, in both directions (FSx
    for Lustre user guide, limit-access-security-groups): with 988 alone mounts hang, and nodes lose the file system
    when a server connects to them.

    ## Fails

        Resources:
          Lustre:
            Type: AWS::EC2::SecurityGroup
            Properties:
              GroupDescription: Lustre
              SecurityGroupIngress: [{IpProtocol: tcp, FromPort: 988, ToPort: 988, CidrIp: 10.0.0.0/16}]

    ## Passes

        Resources:
          Lustre:
            Type: AWS::EC2::SecurityGroup
            Properties:
              GroupDescription: Lustre
              SecurityGroupIngress:
                - {IpProtocol: tcp, FromPort: 988, ToPort: 988, CidrIp: 10.0.0.0/16}
          Others:
            Type: AWS::EC2::SecurityGroupIngress
            Properties: {GroupId: !Ref Lustre, IpProtocol: tcp, FromPort: 1018, ToPort: 1023, CidrIp: 10.0.0.0/16}
    """
    if group.unread or any(ports.unread for ports in group.ingress):
        return
    lustre = [ports for ports in group.ingress if _opens(ports, _LUSTRE)]
    missing = [
        port
        for port in _OTHERS
        if not any(_opens(ports, port) for ports in group.ingress)
    ]
    if lustre and missing:
        yield Finding(
            f"security group `{group.logical}` opens port 988 of Lustre, and not {missing[0]} to {missing[-1]}",
            lustre[0].at,
            label="mounts hang",
            help="open 988 and 1018 to 1023 over TCP, in both directions",
        )


def _opens(ports: Ports, port: int) -> bool:
    """Whether a port of TCP is let in."""
    if ports.protocol in _ANY:
        return True
    if ports.protocol not in ("tcp", "6") or ports.first is None or ports.last is None:
        return False
    return ports.first <= port <= ports.last
