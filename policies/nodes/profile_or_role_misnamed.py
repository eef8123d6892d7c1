from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.manifest import Manifest, placeholder
from compiler.model.values import indexed, value
from compiler.places import Key, Route
from compiler.policy.rule import Finding, rule

_CLASSES = ("EC2NodeClass", "NodeClass")
_ARN = "arn:"


@rule(
    "HLT082",
    kinds=(
        "karpenter.k8s.aws/EC2NodeClass",
        "eks.amazonaws.com/NodeClass",
        "eksctl.io/ClusterConfig",
    ),
)
def profile_or_role_misnamed(manifest: Manifest) -> Iterator[Finding]:
    """A role or an instance profile of nodes is given by its ARN where its name belongs, or the other way round.

    `role` and `instanceProfile` of a node class are names: Karpenter asks IAM for a profile that is called like the
    ARN, finds none, and launches nothing (karpenter v1.14.1, EC2NodeClass; EKS user guide, create-node-class).
    `iam.instanceRoleARN` and `iam.instanceProfileARN` of eksctl are ARNs (eksctl v0.230.0).

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {role: null, instanceProfile: "arn:aws:iam::111122223333:instance-profile/KarpenterNode"}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {role: "arn:aws:iam::111122223333:role/KarpenterNodeRole-base"}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: gpu, instanceType: p4d.24xlarge, nodeRepairConfig: {enabled: true},
             iam: {instanceRoleARN: NodeRole}}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {role: null, instanceProfile: KarpenterNode}
    """
    at = Route((manifest.id,))
    name = manifest.ref.name
    if manifest.ref.kind in _CLASSES:
        for field in ("role", "instanceProfile"):
            given = value(manifest.body, "spec", field)
            if isinstance(given, str) and given.startswith(_ARN):
                yield Finding(
                    f"`{field}` of node class `{name}` is an ARN, and is read as a name",
                    at / "spec" / field,
                    label="IAM has none of that name",
                    help=f"write the name, `{given.rpartition('/')[2]}`",
                )
        return
    for path, given in _arns(manifest.body):
        if (
            isinstance(given, str)
            and given
            and not given.startswith(_ARN)
            and not placeholder(given)
        ):
            yield Finding(
                f"`{path[-1]}` of {_whose(path, manifest)} is `{given}`, and no ARN",
                Route((*at, *path)),
                label="eksctl hands it to IAM as an ARN",
                help="write the whole ARN, `arn:aws:iam::ACCOUNT:…`",
            )


def _whose(path: tuple[Key, ...], manifest: Manifest) -> str:
    group = value(manifest.body, *path[:2], "name") if len(path) > 2 else None
    return f"node group `{group}`" if group else f"cluster `{manifest.ref.name}`"


def _arns(body: Any) -> Iterator[tuple[tuple[Key, ...], Any]]:
    for groups in ("managedNodeGroups", "nodeGroups"):
        for index, _ in indexed(body, groups):
            for field in ("instanceRoleARN", "instanceProfileARN"):
                yield (groups, index, "iam", field), value(body, groups, index, "iam", field)
    for part, field in (("iam", "serviceRoleARN"), ("autoModeConfig", "nodeRoleARN")):
        yield (part, field), value(body, part, field)
