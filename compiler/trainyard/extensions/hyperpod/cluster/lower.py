"""Lower: the request that makes the cluster, the stack of what its nodes need, and what they run when they are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trainyard.catalog.managed_policies import arn_of
from trainyard.extensions.hyperpod.cluster.plan import HyperPodCluster, HyperPodStack
from trainyard.extensions.hyperpod.groups.body import body as body_of_group
from trainyard.extensions.hyperpod.groups.body import places
from trainyard.extensions.hyperpod.groups.lifecycle import LIFECYCLE_SCRIPT, ON_CREATE
from trainyard.extensions.hyperpod.groups.names import FOLDER
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup
from trainyard.extensions.hyperpod.jobs.kinds.hyperpod_pytorch_job import (
    OPERATOR_ACCOUNT,
    OPERATOR_NAMESPACE,
)
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import STACKS, tag_list, template
from trainyard.plan import Plan


def lower(plan: Plan) -> Iterator[Artifact]:
    """The cluster, its stack and its lifecycle script."""
    cluster, stack = plan.one(HyperPodCluster), plan.one(HyperPodStack)
    if cluster is not None:
        groups = sorted(plan.of(InstanceGroup), key=lambda group: group.name)
        yield _request(cluster, groups)
    if stack is not None:
        yield _stack(stack)
        path = f"{FOLDER}/lifecycle/{ON_CREATE}"
        yield Artifact(path=path, at=stack.at, text=LIFECYCLE_SCRIPT, format="shell")


def _request(cluster: HyperPodCluster, groups: Sequence[InstanceGroup]) -> Artifact:
    body = fields_given(
        ClusterName=cluster.name,
        Orchestrator={"Eks": {"ClusterArn": cluster.eks}},
        NodeRecovery=cluster.recovery,
        VpcConfig={
            "SecurityGroupIds": list(cluster.security_groups),
            "Subnets": list(cluster.subnets),
        },
        InstanceGroups=[body_of_group(group) for group in groups],
        Tags=tag_list(cluster.tags) or None,
    )
    origins: Places = {
        ("NodeRecovery",): cluster.where("recovery"),
        ("VpcConfig",): cluster.where("subnets"),
        ("Tags",): cluster.where("tags"),
    }
    for index, group in enumerate(groups):
        origins |= places(group, ("InstanceGroups", index))
    return Artifact(body, f"{FOLDER}/create-cluster.json", cluster.at, origins, format="hyperpod")


# AWS' own template of the role (aws-samples/awsome-distributed-training 7217859,
# 7.sagemaker-hyperpod-eks/cfn-templates/nested-stacks/sagemaker-iam-role-stack.yaml): what it needs where its nodes are
# in a VPC of the account and in a cluster of EKS. Three policies of AWS have the rights of the CNI plugin, of the
# kubelet (that of Pod Identity too) and of images; the rest is allowed here. The template's
# `cloudwatch:DescribeAlarms` is for updates that alarms roll back, which the request asks for nowhere.
_POLICIES = (
    "AmazonSageMakerClusterInstanceRolePolicy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
)
_SHARE = ("ec2:CreateNetworkInterfacePermission", "ec2:DeleteNetworkInterfacePermission")
_IMAGES = ("ecr:BatchCheckLayerAvailability",)
_SEE = (
    *("ec2:DescribeDhcpOptions", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets"),
    "ec2:DescribeVpcs",
)


def _stack(stack: HyperPodStack) -> Artifact:
    """The role of all nodes, and the bucket of what they run when they are made."""
    owner = f"arn:{stack.partition}:ec2:{stack.region}:{stack.account}"
    repositories = f"arn:{stack.partition}:ecr:*:*:repository/*"
    statements = [
        _allowed(_SHARE, f"{owner}:network-interface/*"),
        _allowed(_SEE, "*"),
        _allowed(_IMAGES, repositories),
    ]
    trust = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "sagemaker.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        ],
    }
    policy = {"Version": "2012-10-17", "Statement": statements}
    resources: dict[str, Any] = {
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": fields_given(
                RoleName=stack.role,
                AssumeRolePolicyDocument=trust,
                ManagedPolicyArns=[arn_of(name, stack.partition) for name in _POLICIES],
                Policies=[{"PolicyName": "nodes", "PolicyDocument": policy}],
                Tags=tag_list(stack.tags) or None,
            ),
        },
        "Scripts": {"Type": "AWS::S3::Bucket", "Properties": _bucket(stack)},
    }
    if stack.operator:
        resources |= _operator(stack)
    body = template(f"What the nodes of HyperPod cluster {stack.cluster} need", resources)
    return Artifact(body, f"{STACKS}/hyperpod.yaml", stack.at, format="cloudformation")


_OPERATES = "AmazonSageMakerHyperPodTrainingOperatorAccess"


def _operator(stack: HyperPodStack) -> dict[str, Any]:
    """The role of HyperPod's training operator, by Pod Identity (SageMaker developer guide,
    sagemaker-eks-operator-install)."""
    role = fields_given(
        AssumeRolePolicyDocument=stack.operator,
        ManagedPolicyArns=[arn_of(_OPERATES, stack.partition)],
        Tags=tag_list(stack.tags) or None,
    )
    association = {
        "ClusterName": stack.cluster,
        "Namespace": OPERATOR_NAMESPACE,
        "ServiceAccount": OPERATOR_ACCOUNT,
        "RoleArn": {"Fn::GetAtt": ["OperatorRole", "Arn"]},
    }
    return {
        "OperatorRole": {"Type": "AWS::IAM::Role", "Properties": role},
        "OperatorAssociation": {
            "Type": "AWS::EKS::PodIdentityAssociation",
            "Properties": association,
        },
    }


def _allowed(actions: Iterable[str], resource: str) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": list(actions), "Resource": resource}


def _bucket(stack: HyperPodStack) -> dict[str, Any]:
    public = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    encryption = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    return fields_given(
        BucketName=stack.bucket,
        BucketEncryption={"ServerSideEncryptionConfiguration": [encryption]},
        OwnershipControls={"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        PublicAccessBlockConfiguration=dict.fromkeys(public, True),
        VersioningConfiguration={"Status": "Enabled"},
        Tags=tag_list(stack.tags) or None,
    )
