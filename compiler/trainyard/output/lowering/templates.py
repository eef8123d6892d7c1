"""Pieces of CloudFormation templates that several features write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STACKS = "bootstrap/stacks"
"""The folder of the stacks that the bootstrap makes, relative to the cluster's."""
KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
"""Attributes that keep a resource when its stack is deleted or replaced (template reference, resource attributes)."""


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Tags as AWS::EC2, ECR, FSx and S3 take them."""
    pairs = tags.items()
    return [{"Key": key, "Value": value} for key, value in pairs]


def template(description: str, resources: Mapping[str, Any], **sections: Any) -> dict[str, Any]:
    """A template; ``sections`` are others, by name, and stand after the description (template anatomy)."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": description,
        **sections,
        "Resources": dict(resources),
    }


def inline_policy(name: str, statements: list[dict[str, Any]]) -> dict[str, Any]:
    """A policy of a role alone (CloudFormation template reference, AWS::IAM::Role Policy)."""
    return {
        "PolicyName": name,
        "PolicyDocument": {"Version": "2012-10-17", "Statement": statements},
    }


def pod_identity(
    role: Mapping[str, Any], cluster: str, namespace: str, service_account: str
) -> dict[str, Any]:
    """A role with these properties, and its association with a ServiceAccount of a cluster.

    AWS::IAM::Role, AWS::EKS::PodIdentityAssociation (CloudFormation template reference).
    """
    association = {
        "ClusterName": cluster,
        "Namespace": namespace,
        "ServiceAccount": service_account,
        "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
    }
    return {
        "Role": {"Type": "AWS::IAM::Role", "Properties": dict(role)},
        "Association": {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": association},
    }


def role_policy(name: str, role: str, statements: list[dict[str, Any]]) -> dict[str, Any]:
    """AWS::IAM::RolePolicy (CloudFormation template reference): a role may have many, each from another stack."""
    return {
        "Type": "AWS::IAM::RolePolicy",
        "Properties": {
            "PolicyName": name,
            "RoleName": role,
            "PolicyDocument": {"Version": "2012-10-17", "Statement": statements},
        },
    }
