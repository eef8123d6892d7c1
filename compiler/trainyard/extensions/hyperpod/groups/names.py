"""The names of what the bootstrap makes for all nodes."""

from __future__ import annotations

from trainyard.core.network.spec import NetworkSection
from trainyard.extensions.hyperpod.groups.lifecycle import lifecycle_digest
from trainyard.plan.context import Context
from trainyard.plan.naming import LONGEST_BUCKET, bounded

CLUSTER_GROUP = "${CLUSTER_SECURITY_GROUP}"
"""The variable that stands for the security group of the cluster of EKS until eksctl has made it."""

_LONGEST_ROLE = 64 - len("trainyard--hyperpod")  # IAM API, CreateRole RoleName
FOLDER = "bootstrap/hyperpod"
"""The folder of what makes the nodes."""


def execution_role(context: Context) -> str:
    """The name of the role of all nodes."""
    return f"trainyard-{bounded(context.name, _LONGEST_ROLE)}-hyperpod"


def execution_role_arn(context: Context) -> str:
    return f"arn:{context.partition}:iam::{context.spec.account}:role/{execution_role(context)}"


def scripts_bucket(context: Context) -> str:
    """The bucket of lifecycle scripts: nodes may read those alone whose names begin with ``sagemaker-`` (SageMaker API,
    ClusterLifeCycleConfig)."""
    spec = context.spec
    end = f"-{spec.account}-{spec.region}"
    whole = f"sagemaker-{context.name}"
    return bounded(whole, LONGEST_BUCKET - len(end)) + end


def lifecycle_prefix(context: Context) -> str:
    """Where the scripts lie."""
    return f"s3://{scripts_bucket(context)}/lifecycle/{lifecycle_digest()}/"


def security_groups(context: Context) -> tuple[str, ...]:
    """The security groups of all nodes: that of the cluster of EKS, and the spec's own."""
    existing = NetworkSection.of(context.spec).network.existing
    return (CLUSTER_GROUP, *(existing.security_groups if existing is not None else ()))


def private_subnets(context: Context) -> dict[str, tuple[str, ...]]:
    """The ids of private subnets, by zone."""
    existing = NetworkSection.of(context.spec).network.existing
    if existing is None:
        return {}
    zones = existing.private.items()
    return {zone: tuple(subnet.id for subnet in subnets) for zone, subnets in zones}
