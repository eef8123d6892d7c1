from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import IamRole
from trainyard.judge.model.managed_policies import broad
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("ACC020", severity=Severity.WARNING)
def managed_policy_too_broad(role: IamRole) -> Iterator[Finding]:
    """A role of a template has a managed policy of AWS that allows everything, or everything of a service.

    With `AdministratorAccess` on a node role every pod that reaches the node's credentials owns the account (EKS best
    practices, identity and access management). A `…FullAccess` is a note: it may delete what it is only to read. AWS
    itself has the FSx CSI driver take `AmazonFSxFullAccess` (EKS user guide, fsx-csi). What eksctl attaches is ACC021.

    ## Fails

        Resources:
          NodeRole:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow,
                Principal: {Service: ec2.amazonaws.com}, Action: "sts:AssumeRole"}]}
              ManagedPolicyArns: ["arn:aws:iam::aws:policy/AdministratorAccess"]

    ## Passes

        Resources:
          NodeRole:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow,
                Principal: {Service: ec2.amazonaws.com}, Action: "sts:AssumeRole"}]}
              ManagedPolicyArns: ["arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"]
    """
    for index, arn in enumerate(role.managed):
        policy = broad(arn)
        if policy is not None:
            yield Finding(
                f"role `{role.logical}` has `{policy.name}`",
                role.where("managed") / index,
                label=policy.what,
                help="write a policy with the actions and resources that are used",
                severity=policy.severity,
            )
