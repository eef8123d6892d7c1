from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.model.managed_policies import broad
from compiler.plan import Plan
from compiler.platforms.parallelcluster.cluster.plan import SlurmCluster
from compiler.platforms.parallelcluster.partitions.plan import Partition
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("ACC084", severity=Severity.WARNING)
def node_policy_too_broad(plan: Plan, world: World) -> Iterator[Finding]:
    """Nodes of ParallelCluster have a managed policy of AWS that allows everything, or everything of a service.

    Every program of every job reaches the credentials of its node (EC2 user guide, instance metadata), so with
    `AdministratorAccess` whoever submits a job owns the account. A `…FullAccess` is a note: it may delete what it is
    only to read. Roles of templates are ACC020, what eksctl attaches is ACC021.

    ## Fails

        platform: {parallelCluster: {policies: ["arn:aws:iam::aws:policy/AdministratorAccess"]}}

    ## Passes

        platform: {parallelCluster: {policies: ["arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"]}}
    """
    seen = set()
    for nodes in (*plan.of(SlurmCluster), *plan.of(Partition)):
        for arn in nodes.policies:
            policy = broad(arn)
            at = nodes.where("policies")
            if policy is None or (arn, at) in seen:
                continue
            seen.add((arn, at))
            yield Finding(
                f"nodes have `{policy.name}`, and so has every job on them",
                at,
                label=policy.what,
                help="write a policy with the actions and resources that are used",
                severity=policy.severity,
            )
