from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.output.body import walk_mappings
from compiler.plan import Plan
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World
from compiler.source import Route
from compiler.subjects.cloud.plan import IamRole

_EVERYTHING = ("AdministratorAccess", "PowerUserAccess", "IAMFullAccess")
_LISTS = ("attachPolicyARNs", "permissionPolicyARNs")
_OF_AWS = ":iam::aws:policy/"


@rule("ACC020", severity=Severity.WARNING)
def managed_policy_too_broad(plan: Plan, world: World) -> Iterator[Finding]:
    """A role of nodes or pods has a managed policy of AWS that allows everything, or everything of a service.

    With `AdministratorAccess` on a node role every pod that reaches the node's credentials owns the account (EKS best
    practices, identity and access management). A `…FullAccess` is a note: it may delete what it is only to read. AWS
    itself has the FSx CSI driver take `AmazonFSxFullAccess` (EKS user guide, fsx-csi).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: base, region: us-west-2, version: "1.35"}
        iam:
          withOIDC: true
          serviceAccounts: [{metadata: {name: trainer, namespace: team-a},
            attachPolicyARNs: ["arn:aws:iam::aws:policy/AmazonS3FullAccess"]}]

        Resources:
          NodeRole:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow,
                Principal: {Service: ec2.amazonaws.com}, Action: "sts:AssumeRole"}]}
              ManagedPolicyArns: ["arn:aws:iam::aws:policy/AdministratorAccess"]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: base, region: us-west-2, version: "1.35"}
        iam:
          withOIDC: true
          serviceAccounts: [{metadata: {name: trainer, namespace: team-a},
            attachPolicyARNs: ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]}]
    """
    for role in plan.of(IamRole):
        for index, arn in enumerate(role.managed):
            yield from _judged(arn, f"role `{role.logical}`", role.where("managed") / index)
    for manifest in world.manifests:
        if manifest.ref.kind == "ClusterConfig":
            yield from _in_config(manifest)


def _in_config(manifest: Manifest) -> Iterator[Finding]:
    for path, part in walk_mappings(manifest.body):
        for name in _LISTS:
            arns = part.get(name)
            for index, arn in enumerate(arns if isinstance(arns, list) else ()):
                at = Route((manifest.id, *path, name, index))
                who = f"cluster `{manifest.ref.name}`"
                yield from _judged(str(arn), who, at)


def _judged(arn: str, who: str, at: Route) -> Iterator[Finding]:
    if _OF_AWS not in arn:
        return
    name = arn.rpartition("/")[2]
    is_all = name in _EVERYTHING
    if is_all or name.endswith("FullAccess"):
        yield Finding(
            f"{who} gives `{name}`",
            at,
            label="the whole account" if is_all else "every action of the service",
            help="write a policy with the actions and resources that are used",
            severity=None if is_all else Severity.NOTE,
        )
