from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.core.launch.plan import LaunchTemplate
from trainyard.judge.model.values import indexed, value_at
from trainyard.judge.model.worded import spelled
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Key, Route
from trainyard.output.manifest import Manifest, group_of, placeholder
from trainyard.plan import Plan

_CLASSES = (("karpenter.k8s.aws", "EC2NodeClass"), ("eks.amazonaws.com", "NodeClass"))
_ARN = "arn:"


@rule("HLT082", alone=True)
def profile_or_role_misnamed(plan: Plan, world: World) -> Iterator[Finding]:
    """A role or an instance profile of nodes is given by its ARN where its name belongs, or the other way round.

    `role` and `instanceProfile` of a node class are names: Karpenter asks IAM for a profile that is called like the
    ARN, finds none, and launches nothing (karpenter v1.14.1, EC2NodeClass; EKS user guide, create-node-class).
    `iam.instanceRoleARN` and `iam.instanceProfileARN` of eksctl are ARNs (eksctl v0.230.0). A launch template has a
    field for each (EC2 API, LaunchTemplateIamInstanceProfileSpecificationRequest).

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
    for manifest in world.manifests:
        kind = (group_of(manifest.ref.api_version), manifest.ref.kind)
        if kind in _CLASSES:
            yield from _in_class(manifest)
        elif kind == ("eksctl.io", "ClusterConfig"):
            yield from _in_config(manifest)
    for template in plan.of(LaunchTemplate):
        yield from _in_template(template)


def _in_template(template: LaunchTemplate) -> Iterator[Finding]:
    name, arn = template.instance_profile or "", template.profile_arn or ""
    if name.startswith(_ARN):
        yield Finding(
            f"the name of the instance profile of {template.words} is an ARN",
            template.where("instance_profile"),
            label="IAM has none of that name",
            help=f"write it as `{spelled(template, 'Arn')}`",
        )
    if arn and not arn.startswith(_ARN) and not placeholder(arn):
        yield Finding(
            f"the ARN of the instance profile of {template.words} is `{arn}`, and no ARN",
            template.where("profile_arn"),
            label="EC2 refuses it",
            help=f"write it as `{spelled(template, 'Name')}`, or the whole ARN",
        )


def _in_class(manifest: Manifest) -> Iterator[Finding]:
    at = Route((manifest.id,))
    name = manifest.ref.name
    for field in ("role", "instanceProfile"):
        given = value_at(manifest.body, "spec", field)
        if isinstance(given, str) and given.startswith(_ARN):
            yield Finding(
                f"`{field}` of node class `{name}` is an ARN, and is read as a name",
                at / "spec" / field,
                label="IAM has none of that name",
                help=f"write the name, `{given.rpartition('/')[2]}`",
            )


def _in_config(manifest: Manifest) -> Iterator[Finding]:
    at = Route((manifest.id,))
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
    group = value_at(manifest.body, *path[:2], "name") if len(path) > 2 else None
    return f"node group `{group}`" if group else f"cluster `{manifest.ref.name}`"


def _arns(body: Any) -> Iterator[tuple[tuple[Key, ...], Any]]:
    for groups in ("managedNodeGroups", "nodeGroups"):
        for index, _ in indexed(body, groups):
            for field in ("instanceRoleARN", "instanceProfileARN"):
                yield (groups, index, "iam", field), value_at(body, groups, index, "iam", field)
    for part, field in (("iam", "serviceRoleARN"), ("autoModeConfig", "nodeRoleARN")):
        yield (part, field), value_at(body, part, field)
