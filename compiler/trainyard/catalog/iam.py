"""IAM: what Karpenter may do, from upstream's own least-privilege policies (``data/iam.json``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from string import Template
from typing import Any

from trainyard.catalog import managed_policies
from trainyard.catalog.catalog import DATA

Document = dict[str, Any]


@cache
def _data() -> dict[str, Any]:
    text = (DATA / "iam.json").read_bytes()
    data: dict[str, Any] = json.loads(text)
    return data


@cache
def limited_actions(service: str) -> frozenset[str]:
    """The actions of a service that change something and can be limited to a resource, in lowercase; none of a service
    that is not known (``data/iam_actions.json``)."""
    return frozenset(_actions().get(service, ()))


@cache
def _actions() -> dict[str, list[str]]:
    text = (DATA / "iam_actions.json").read_bytes()
    data = json.loads(text)
    actions: dict[str, list[str]] = data["actions"]
    return actions


def _fill(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        if "$" not in value:
            return value
        return Template(value).safe_substitute(names)
    if isinstance(value, list):
        return [_fill(item, names) for item in value]
    if isinstance(value, dict):
        pairs = value.items()
        return {_fill(key, names): _fill(item, names) for key, item in pairs}
    return value


def karpenter_policies(
    partition: str, region: str, account: str, cluster: str, queue: str, *, node_role: str
) -> dict[str, Document]:
    """The controller's managed policies by name, as in Karpenter's own CloudFormation (v1.14.1).

    ``queue`` is the interruption queue's name, ``node_role`` that of the nodes' role. Arguments may themselves be
    CloudFormation or Terraform references (``${AWS::AccountId}``): they are not looked into.
    """
    names = {
        "Partition": partition,
        "Region": region,
        "AccountId": account,
        "ClusterName": cluster,
        "NodeRole": node_role,
        "Queue": queue,
    }
    return _fill(_data()["karpenter"]["policies"], names)  # type: ignore[no-any-return]


def node_role_policies(partition: str, owner: str = "karpenter") -> list[str]:
    """ARNs of the AWS managed policies of the nodes' role, of nodes of ``karpenter`` or of ``auto_mode``."""
    return [
        managed_policies.arn_of(name, partition) for name in _data()[owner]["node_role"]["policies"]
    ]


def interruption_rules() -> dict[str, Document]:
    """EventBridge event patterns whose events go to the interruption queue, by rule name."""
    rules: dict[str, Document] = _data()["karpenter"]["rules"]
    return _fill(rules, {})  # type: ignore[no-any-return]


def interruption_queue(partition: str, region: str, account: str, queue: str) -> Document:
    """The interruption queue: ``MessageRetentionPeriod``, ``SqsManagedSseEnabled`` and its ``policy``."""
    names = {"Partition": partition, "Region": region, "AccountId": account, "Queue": queue}
    return _fill(_data()["karpenter"]["queue"], names)  # type: ignore[no-any-return]


def pod_identity_trust(cluster_arn: str, namespace: str, service_account: str) -> Document:
    """The trust policy of a role for EKS Pod Identity: for one service account of one cluster.

    Without the session tags any association of the account could name the role (EKS user guide, pod-id-role: setting
    conditions; pod-id-abac: the tags).
    """
    document: Document = _fill(_data()["pod_identity_trust"]["document"], {})
    (statement,) = document["Statement"]
    tags = {
        "eks-cluster-arn": cluster_arn,
        "kubernetes-namespace": namespace,
        "kubernetes-service-account": service_account,
    }
    only = {f"aws:RequestTag/{tag}": value for tag, value in tags.items()}
    statement["Condition"] = {"StringEquals": only}
    return document


def cluster_arn(partition: str, region: str, account: str, cluster: str) -> str:
    """The ARN of a cluster."""
    return f"arn:{partition}:eks:{region}:{account}:cluster/{cluster}"
