"""Target: what people or CI run once, before Flux: IAM and queue, placement groups, the cluster, Flux itself."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from typing import Any

from compiler.plan import Plan
from compiler.plan.cluster import Bootstrap, PlacementGroup

FOLDER = "bootstrap"


def files(plan: Plan) -> dict[str, str]:
    """A CloudFormation stack, and the README with the commands in order."""
    boot = plan.bootstrap
    if boot is None:
        return {}
    return {
        f"{FOLDER}/stack.json": json.dumps(stack(boot), indent=2) + "\n",
        f"{FOLDER}/README.md": _template("README.md.j2").render(boot=boot, plan=plan),
    }


@cache
def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("compiler.targets", "templates"), undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, autoescape=False,  # noqa: S701 - Markdown
    )


def _template(name: str) -> Any:
    return _environment().get_template(name)


def stack(boot: Bootstrap) -> dict[str, Any]:
    """CloudFormation: Karpenter's roles, its interruption queue with its rules, the placement groups."""
    resources: dict[str, Any] = {
        "NodeRole": _role(boot.node_role, _trust("ec2.amazonaws.com"), list(boot.node_policies)),
        "ControllerRole": _role(boot.controller_role, boot.controller_trust,
                                [{"Ref": f"{_logical(name)}Policy"} for name in boot.controller_policies]),
        "InterruptionQueue": {"Type": "AWS::SQS::Queue", "Properties": {
            "QueueName": boot.interruption_queue,
            **{name: value for name, value in boot.queue.items() if name != "policy"},
        }},
        "InterruptionQueuePolicy": {"Type": "AWS::SQS::QueuePolicy", "Properties": {
            "Queues": [{"Ref": "InterruptionQueue"}], "PolicyDocument": boot.queue["policy"],
        }},
    }
    for name, document in boot.controller_policies.items():
        resources[f"{_logical(name)}Policy"] = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {
            "PolicyDocument": document,
        }}
    for name, pattern in boot.interruption_rules.items():
        resources[f"{_logical(name)}Rule"] = {"Type": "AWS::Events::Rule", "Properties": {
            "EventPattern": pattern,
            "Targets": [{"Id": "KarpenterInterruptionQueue", "Arn": {"Fn::GetAtt": ["InterruptionQueue", "Arn"]}}],
        }}
    for group in boot.placement_groups:
        resources[_group_id(group.name)] = _placement_group(group)
    if boot.buckets:
        resources["BucketRole"] = _bucket_role(boot)
    return {"AWSTemplateFormatVersion": "2010-09-09",
            "Description": f"What cluster {boot.cluster} needs before it exists", "Resources": resources}


def _logical(name: str) -> str:
    return "".join(part.capitalize() if part.islower() else part for part in name.replace("_", "-").split("-"))


def _group_id(name: str) -> str:
    """A logical id of letters and digits. The digest tells `a-1` from `a1`, which read the same without the dash."""
    return f"{_logical(name)}{sha256(name.encode()).hexdigest()[:6]}PlacementGroup"


def _trust(service: str) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"},
    ]}


def _role(name: str, trust: Any, policies: list[Any]) -> dict[str, Any]:
    return {"Type": "AWS::IAM::Role", "Properties": {
        "RoleName": name, "AssumeRolePolicyDocument": dict(trust), "ManagedPolicyArns": policies,
    }}


def _placement_group(group: PlacementGroup) -> dict[str, Any]:
    # AWS::EC2::PlacementGroup: the name is CloudFormation's own unless it is given, as EC2NodeClass needs it.
    properties: dict[str, Any] = {"GroupName": group.name, "Strategy": group.strategy}
    if group.strategy == "partition":
        properties["PartitionCount"] = 7
    return {"Type": "AWS::EC2::PlacementGroup", "Properties": properties}


def _bucket_role(boot: Bootstrap) -> dict[str, Any]:
    # Actions of the Mountpoint CSI driver's documentation; no more than the buckets of the spec.
    arns = [f"arn:{boot.partition}:s3:::{bucket}" for bucket in boot.buckets]
    document = {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": arns},
        {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"],
         "Resource": [f"{arn}/*" for arn in arns]},
    ]}
    role = _role(boot.bucket_role, boot.controller_trust, [])
    role["Properties"]["Policies"] = [{"PolicyName": "buckets", "PolicyDocument": document}]
    return role
