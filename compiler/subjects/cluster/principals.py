"""Who may enter the cluster: principals that AWS would refuse."""

from __future__ import annotations

from compiler.resolve.context import SPEC, Context
from compiler.subjects.pools.resolve import node_role


def check_principals(context: Context) -> None:
    """Principals of another partition, and the one that is the nodes' own."""
    own = f"arn:{context.partition}:iam::{context.spec.account}:role/{node_role(context.name)}"
    found = [
        (SPEC / "admins" / index, arn) for index, arn in enumerate(context.spec.admins)
    ]
    for place, namespace in enumerate(context.spec.namespaces):
        here = SPEC / "namespaces" / place / "principals"
        found += [(here / index, arn) for index, arn in enumerate(namespace.principals)]
    for at, arn in found:
        partition = arn.split(":")[1]
        if partition != context.partition:
            context.fault(
                "RES043",
                f"`{arn}` is of partition `{partition}`, and region `{context.spec.region}` of "
                f"`{context.partition}`",
                at,
                f"write a principal of it: `arn:{context.partition}:iam::...`",
                source="EKS API, CreateAccessEntry",
            )
        elif arn == own:
            context.fault(
                "RES043",
                f"`{arn}` is the role of the nodes, which has an access entry of its own",
                at,
                "name the role or user of a person: EKS takes one access entry a principal",
                source="EKS API, CreateAccessEntry",
            )
