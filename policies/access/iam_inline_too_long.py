from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import IamRole
from trainyard.judge.policy.rule import Finding, rule

_MOST = 10_240


@rule("ACC013")
def iam_inline_too_long(role: IamRole) -> Iterator[Finding]:
    """The inline policies of a role together have more characters than IAM takes.

    It takes 10,240 for all of a role's, and no quota raises it (IAM user guide, IAM and AWS STS quotas; white space
    does not count). The stack rolls back at the policy that is one too many. Where functions fill in a part, only
    what is known is counted.

    ## Fails

        Resources:
          Nodes:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: sts:AssumeRole}]
              Policies:
                - PolicyName: first
                  PolicyDocument: &document
                    Version: "2012-10-17"
                    Statement:
                      - &long
                        Effect: Allow
                        Action: ec2:RunInstances
                        Resource:
                          - &arn arn:aws:ec2:ap-northeast-2:111122223333:launch-template/lt-0123456789abcdef0-long-name
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
                - {PolicyName: second, PolicyDocument: *document}

    ## Passes

        Resources:
          Nodes:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: sts:AssumeRole}]
              Policies:
                - PolicyName: first
                  PolicyDocument:
                    Version: "2012-10-17"
                    Statement: [{Effect: Allow, Action: "s3:GetObject", Resource: "arn:aws:s3:::data/*"}]
    """
    size = sum(policy.characters for policy in role.inline)
    if size > _MOST:
        yield Finding(
            f"the inline policies of role `{role.logical}` have {size:,} characters, IAM takes {_MOST:,}",
            role.where("inline"),
            help="move them into managed policies of at most 6,144 characters each",
            key=True,
        )
