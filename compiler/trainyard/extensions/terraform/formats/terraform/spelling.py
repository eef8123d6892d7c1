"""How the AWS provider spells what AWS calls by one name: its types, and the arguments whose names are others.

An argument is called as the property is in small letters with ``_``, unless a row says otherwise. Source:
hashicorp/aws 6.25.0, whose schema is in ``data`` (``structure``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from trainyard.extensions.terraform.formats.terraform.values import name_at, several_at
from trainyard.language.dataclass import dataclass
from trainyard.lift.cloud_resources import PUBLIC_ACCESS
from trainyard.lift.launch_templates import snake
from trainyard.lift.reader import Reader

Argument = str | Callable[[Reader, str], Reader]
"""Where a property is: the name of an argument, empty where it is the block itself; or what finds it in a block of the
resource that has an address."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """A type: what it is in CloudFormation, and its arguments by the names of AWS, as far as they have others.
    ``called`` is the argument by which other resources may name one; ``lacks`` says of properties why there is none."""

    kind: str
    names: Mapping[str, Argument] = field(default_factory=dict)
    called: str = "name"
    lacks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Beside:
    """A type of resources that say a property of another, of type ``of``, which the argument ``by`` names. ``value``
    is what they say of it, if not all; ``way``: only those whose `type` is that, or is not known; ``elsewhere``: where
    none of the module says it, another module may."""

    kind: str
    of: str
    property: str
    by: str
    value: str = ""
    way: str = ""
    elsewhere: bool = False
    names: Mapping[str, Argument] = field(default_factory=dict)


def _peer(rule: Reader, group: str) -> Reader:
    """The other group of a rule: the group itself, or the first that it names."""
    several = several_at(rule / "security_groups")
    if (rule / "self").value in (True, "true") or group in map(name_at, several):
        return Reader(f"${{{group}.id}}", rule.at)
    return next(iter(several), rule / "source_security_group_id")


def _or_off(name: str) -> Argument:
    """A setting that is off where it is left out (provider's page, aws_s3_bucket_public_access_block)."""

    def find(block: Reader, bucket: str) -> Reader:
        flag = block / snake(name)
        return flag or Reader(False, block.at)

    return find


_NAME_AND_POLICY = {"PolicyName": "name", "PolicyDocument": "policy"}
_PEERS = {"SourceSecurityGroupId": _peer, "DestinationSecurityGroupId": _peer}
_RULE: Mapping[str, Argument] = {"IpProtocol": "protocol", **_PEERS}
_ALONE: Mapping[str, Argument] = dict.fromkeys(_PEERS, "referenced_security_group_id")

SPELLINGS: Mapping[str, Spelling] = {
    "aws_autoscaling_group": Spelling(
        "AWS::AutoScaling::AutoScalingGroup", {"Overrides": "override"}
    ),
    "aws_cloudwatch_event_rule": Spelling("AWS::Events::Rule"),
    "aws_ecr_repository": Spelling("AWS::ECR::Repository", {"RepositoryName": "name"}),
    "aws_eks_access_entry": Spelling("AWS::EKS::AccessEntry", called="principal_arn"),
    "aws_eks_cluster": Spelling("AWS::EKS::Cluster", {"ResourcesVpcConfig": "vpc_config"}),
    "aws_eks_node_group": Spelling("AWS::EKS::Nodegroup"),
    "aws_eks_pod_identity_association": Spelling("AWS::EKS::PodIdentityAssociation"),
    "aws_fsx_data_repository_association": Spelling("AWS::FSx::DataRepositoryAssociation"),
    "aws_fsx_lustre_file_system": Spelling(
        "AWS::FSx::FileSystem",
        {
            "FileSystemType": lambda system, address: Reader("LUSTRE", system.at),
            "LustreConfiguration": "",
        },
    ),
    "aws_iam_policy": Spelling(
        "AWS::IAM::ManagedPolicy",
        {"ManagedPolicyName": "name", "PolicyDocument": "policy"},
        lacks={"Roles": "an `aws_iam_role_policy_attachment` names the role and the policy"},
    ),
    "aws_iam_role": Spelling(
        "AWS::IAM::Role",
        {
            "RoleName": "name",
            "AssumeRolePolicyDocument": "assume_role_policy",
            "Policies": "inline_policy",
            **_NAME_AND_POLICY,
        },
    ),
    "aws_iam_role_policy": Spelling(
        "AWS::IAM::RolePolicy", {"RoleName": "role", **_NAME_AND_POLICY}
    ),
    "aws_launch_template": Spelling(
        "AWS::EC2::LaunchTemplate",
        {
            "LaunchTemplateData": "",
            "LaunchTemplateName": "name",
            "SecurityGroupIds": "vpc_security_group_ids",
            "SecurityGroups": "security_group_names",
        },
    ),
    "aws_placement_group": Spelling("AWS::EC2::PlacementGroup"),
    "aws_s3_bucket": Spelling("AWS::S3::Bucket", {"BucketName": "bucket"}, called="bucket"),
    "aws_s3_bucket_policy": Spelling("AWS::S3::BucketPolicy", {"PolicyDocument": "policy"}),
    "aws_security_group": Spelling(
        "AWS::EC2::SecurityGroup",
        {
            "GroupName": "name",
            "GroupDescription": "description",
            "SecurityGroupIngress": "ingress",
            "SecurityGroupEgress": "egress",
            **_RULE,
        },
    ),
    "aws_sqs_queue": Spelling(
        "AWS::SQS::Queue",
        {"QueueName": "name", "MessageRetentionPeriod": "message_retention_seconds"},
    ),
    "aws_sqs_queue_policy": Spelling(
        "AWS::SQS::QueuePolicy", {"Queues": "queue_url", "PolicyDocument": "policy"}
    ),
}
"""By type of the provider."""

BESIDE: tuple[Beside, ...] = (
    Beside("aws_cloudwatch_event_target", "aws_cloudwatch_event_rule", "Targets", by="rule"),
    Beside(
        "aws_eks_access_policy_association",
        "aws_eks_access_entry",
        "AccessPolicies",
        by="principal_arn",
    ),
    Beside(
        "aws_iam_role_policy_attachment",
        "aws_iam_role",
        "ManagedPolicyArns",
        by="role",
        value="PolicyArn",
    ),
    Beside(
        "aws_s3_bucket_public_access_block",
        "aws_s3_bucket",
        "PublicAccessBlockConfiguration",
        by="bucket",
        names={name: _or_off(name) for name in PUBLIC_ACCESS},
    ),
    Beside(
        "aws_s3_bucket_versioning",
        "aws_s3_bucket",
        "VersioningConfiguration",
        by="bucket",
        value="VersioningConfiguration",
        elsewhere=True,
    ),
    *(
        Beside(kind, "aws_security_group", property, "security_group_id", way=way, names=names)
        for kind, property, way, names in (
            ("aws_security_group_rule", "SecurityGroupIngress", "ingress", _RULE),
            ("aws_security_group_rule", "SecurityGroupEgress", "egress", _RULE),
            ("aws_vpc_security_group_ingress_rule", "SecurityGroupIngress", "", _ALONE),
            ("aws_vpc_security_group_egress_rule", "SecurityGroupEgress", "", _ALONE),
        )
    ),
)
