"""Principals with access to the cluster that AWS would refuse."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.teams.spec import NamespacesSection
from trainyard.eks.nodes.karpenter import node_role
from trainyard.eks.settings.spec import AT_EKS, ClusterSection
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context


def check_principals(context: Context) -> None:
    """Principals of another partition, and the one that is the nodes' own."""
    for at, arn in _principals(context):
        partition = arn.split(":")[1]
        if partition != context.partition:
            context.fault(
                "RES043",
                f"`{arn}` is of partition `{partition}`, "
                f"and region `{context.spec.region}` of "
                f"`{context.partition}`",
                at,
                f"write a principal of it: `arn:{context.partition}:iam::...`",
                source="EKS API, CreateAccessEntry",
            )
        elif arn == node_role_arn(context):
            context.fault(
                "RES043",
                f"`{arn}` is the role of the nodes, which has an access entry of its own",
                at,
                "name the role or user of a person: EKS takes one access entry a principal",
                source="EKS API, CreateAccessEntry",
            )


def _principals(context: Context) -> Iterator[tuple[Route, str]]:
    """The ARNs of administrators and of namespaces, each with its place."""
    admins = ClusterSection.of(context.spec).eks.admins
    for index, arn in enumerate(admins):
        yield AT_EKS / "admins" / index, arn
    namespaces = NamespacesSection.of(context.spec).namespaces
    for place, namespace in enumerate(namespaces):
        here = SPEC / "namespaces" / place / "principals"
        for index, arn in enumerate(namespace.principals):
            yield here / index, arn


def node_role_arn(context: Context) -> str:
    """The ARN of the IAM role of the nodes."""
    account = context.spec.account
    return f"arn:{context.partition}:iam::{account}:role/{node_role(context)}"
