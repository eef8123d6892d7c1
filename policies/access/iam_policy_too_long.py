from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import AccessPolicy
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World

_MANAGED = 6_144


@rule("ACC011", params={"trust": 2_048})
def iam_policy_too_long(policy: AccessPolicy, world: World) -> Iterator[Finding]:
    """A managed policy or a trust policy has more characters than IAM takes.

    A managed policy has at most 6,144, and no quota raises it; a trust policy 2,048, which an account may have raised
    to 8,192 (IAM user guide, IAM and AWS STS quotas; white space does not count). The stack rolls back there. Where
    functions fill in a part, only what is known is counted. `params: {trust: 4096}` sets the account's quota.

    ## Fails

        Resources:
          Nodes:
            Type: AWS::IAM::ManagedPolicy
            Properties:
              PolicyDocument:
                Version: "2012-10-17"
                Statement:
                  - &long
                    Effect: Allow
                    Action: ec2:RunInstances
                    Resource:
                      - &arn arn:aws:ec2:ap-northeast-2:111122223333:launch-template/lt-0123456789abcdef0-a-long-name
                      - *arn
                      - *arn
                      - *arn
                      - *arn
                      - *arn
                      - *arn
                      - *arn
                  - *long
                  - *long
                  - *long
                  - *long
                  - *long
                  - *long
                  - *long
                  - *long
                  - *long

        # params: {trust: 100}
        Resources:
          Nodes:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: sts:AssumeRole}]

    ## Passes

        Resources:
          Nodes:
            Type: AWS::IAM::ManagedPolicy
            Properties:
              PolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Action: ec2:RunInstances, Resource: "arn:aws:ec2:*:*:instance/*"}]

        # params: {trust: 4096}
        Resources:
          Nodes:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: sts:AssumeRole}]
    """
    most = {"managed": _MANAGED, "trust": world.param("trust")}.get(policy.what)
    if most is not None and policy.characters > most:
        yield Finding(
            f"the {policy.what} policy of `{policy.logical}` has {policy.characters:,} characters, IAM takes {most:,}",
            policy.at,
            help="split it into several managed policies"
            if policy.what == "managed"
            else "name fewer principals, or one that covers them",
            key=True,
        )
