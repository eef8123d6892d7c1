"""IAM policies that the spec names: whether they can be attached."""

from __future__ import annotations

from trainyard.extensions.parallelcluster.settings.spec import AT, ParallelCluster
from trainyard.plan.context import Context

_OF_AWS = "aws"


def check_policies(context: Context, own: ParallelCluster) -> None:
    """Faults of policies of another account or partition: a role takes those of its own, and of AWS."""
    for index, arn in enumerate(own.policies):
        _, partition, _, _, account, _ = arn.split(":", 5)
        at = AT / "policies" / index
        if account not in (_OF_AWS, context.spec.account):
            context.fault(
                "RES424",
                f"`{arn}` is a policy of account `{account}`, and roles of `{context.spec.account}` take none of it",
                at,
                "make a policy with the same rights in this account, and name that",
                source="IAM user guide, access_policies_managed-vs-inline: customer managed policies",
            )
        elif partition != context.partition:
            context.fault(
                "RES424",
                f"`{arn}` is a policy of partition `{partition}`, and the cluster is in `{context.partition}`",
                at,
                f"write it as `{arn.replace(f':{partition}:', f':{context.partition}:', 1)}`",
                source="IAM user guide, reference_identifiers: the partition of an ARN",
            )
