from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import AccessEntryStack
from trainyard.judge.policy.rule import Finding, rule


@rule("ACC003", aliases=("group-of-the-system",))
def access_entry_in_system_group(entry: AccessEntryStack) -> Iterator[Finding]:
    """An access entry names a Kubernetes group that begins with `system:`.

    EKS refuses it: "The kubernetes group name system:masters is invalid, it cannot start with system:"
    (CreateAccessEntry; terraform-aws-modules/terraform-aws-eks issue 2915). eksctl creates the entries after the
    control plane, so the cluster is left incomplete.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        accessConfig:
          accessEntries:
            - {principalARN: "arn:aws:iam::111122223333:role/a", kubernetesGroups: ["system:masters"]}

        Resources:
          Admins:
            Type: AWS::EKS::AccessEntry
            Properties:
              ClusterName: lab
              PrincipalArn: "arn:aws:iam::111122223333:role/a"
              KubernetesGroups: ["system:masters"]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        accessConfig:
          accessEntries:
            - {principalARN: "arn:aws:iam::111122223333:role/a", kubernetesGroups: [team-a]}
    """
    for index, group in enumerate(entry.groups):
        if group.startswith("system:"):
            yield Finding(
                f"`{entry.principal or entry.logical}` cannot be a member of `{group}`",
                entry.where("groups") / index,
                help="bind a group of your own; administrators get the access policy `AmazonEKSClusterAdminPolicy`",
            )
