from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import IamRole
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("ACC012", params={"policies": 10})
def iam_too_many_policies(role: IamRole, world: World) -> Iterator[Finding]:
    """A role has more managed policies than IAM attaches to one.

    Ten, unless the account has a higher quota, of at most 25 (IAM user guide, IAM and AWS STS quotas: "Managed policies
    attached to an IAM role"). CloudFormation fails at the eleventh policy, and rolls the stack back.
    `params: {policies: 20}` sets the account's quota.

    ## Fails

        Resources:
          Nodes:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: sts:AssumeRole}]
              ManagedPolicyArns:
                [!Ref A, !Ref B, !Ref C, !Ref D, !Ref E, !Ref F, !Ref G, !Ref H, !Ref I, !Ref J, !Ref K]

        # params: {policies: 2}
        Resources:
          Nodes:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: sts:AssumeRole}]
              ManagedPolicyArns: [!Ref A, !Ref B, !Ref C]

    ## Passes

        # params: {policies: 12}
        Resources:
          Nodes:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: sts:AssumeRole}]
              ManagedPolicyArns:
                [!Ref A, !Ref B, !Ref C, !Ref D, !Ref E, !Ref F, !Ref G, !Ref H, !Ref I, !Ref J, !Ref K, !Ref L]
    """
    most = world.param("policies")
    if len(role.managed) > most:
        yield Finding(
            f"role `{role.logical}` has {len(role.managed)} managed policies where IAM attaches {most}",
            role.where("managed"),
            help="merge some of them, or raise the quota of the account and set `policies` of this rule",
            key=True,
        )
