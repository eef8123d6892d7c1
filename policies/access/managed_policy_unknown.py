from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import IamRole
from trainyard.judge.model.managed_policies import missing
from trainyard.judge.policy.rule import Finding, rule


@rule("ACC023")
def managed_policy_unknown(role: IamRole) -> Iterator[Finding]:
    """A role of a template has a managed policy of AWS whose ARN does not exist.

    The path is part of the ARN: `AmazonEBSCSIDriverPolicy` lies below `service-role/`, `AmazonEBSCSIDriverPolicyV2`
    does not (AWS Managed Policy Reference, 2026-10). The stack fails with `NoSuchEntity` and rolls back. A name that is
    in no list of AWS is a warning, since it may be newer than ours. What eksctl attaches is ACC024.

    ## Fails

        Resources:
          Driver:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow,
                Principal: {Service: pods.eks.amazonaws.com}, Action: ["sts:AssumeRole", "sts:TagSession"]}]}
              ManagedPolicyArns: ["arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicyV2"]

    ## Passes

        Resources:
          Driver:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow,
                Principal: {Service: pods.eks.amazonaws.com}, Action: ["sts:AssumeRole", "sts:TagSession"]}]}
              ManagedPolicyArns: ["arn:aws:iam::aws:policy/AmazonEBSCSIDriverPolicyV2"]
    """
    for index, arn in enumerate(role.managed):
        fault = missing(arn)
        if fault is not None:
            yield Finding(
                f"role `{role.logical}` has policy `{arn}`, which does not exist",
                role.where("managed") / index,
                label=fault.what,
                help=f"write {fault.instead}",
                severity=fault.severity,
            )
