from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.policy.rule import Finding, rule
from compiler.subjects.cloud.plan import SecurityGroupStack


@rule("ACC023", severity=Severity.NOTE)
def ports_of_every_protocol(group: SecurityGroupStack) -> Iterator[Finding]:
    """A rule of a security group names ports, and lets in every protocol on every port.

    With `IpProtocol: -1` EC2 lets in all traffic, whatever ports are written beside it (CloudFormation,
    AWS::EC2::SecurityGroup Ingress): who reads `FromPort: 988` is misled. Terraform takes nothing but 0 there.

    ## Fails

        Resources:
          Nodes:
            Type: AWS::EC2::SecurityGroup
            Properties:
              GroupDescription: nodes
              SecurityGroupIngress: [{IpProtocol: "-1", FromPort: 0, ToPort: 65535, CidrIp: 10.0.0.0/16}]

    ## Passes

        Resources:
          Nodes:
            Type: AWS::EC2::SecurityGroup
            Properties:
              GroupDescription: nodes
              SecurityGroupIngress: [{IpProtocol: "-1", CidrIp: 10.0.0.0/16}]
    """
    for ports in group.ingress:
        said = [port for port in (ports.first, ports.last) if port not in (None, 0, -1)]
        if ports.protocol == "-1" and said:
            yield Finding(
                f"a rule of security group `{group.logical}` names port {said[-1]}, and lets in every protocol",
                ports.at,
                label="the ports mean nothing",
                help="remove `FromPort` and `ToPort`, or write the protocol",
            )
