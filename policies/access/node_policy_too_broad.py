from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.judge.model.managed_policies import broad
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("ACC084", severity=Severity.WARNING)
def node_policy_too_broad(plan: Plan, world: World) -> Iterator[Finding]:
    """Nodes of ParallelCluster have a managed policy of AWS that allows everything, or everything of a service.

    Every program of every job reaches the credentials of its node (EC2 user guide, instance metadata), so with
    `AdministratorAccess` whoever submits a job owns the account. A `…FullAccess` is a note: it may delete what it is
    only to read. Roles of templates are ACC020, what eksctl attaches is ACC021.

    ## Fails

        Region: us-west-2
        Image: {Os: alinux2023}
        HeadNode:
          InstanceType: m7i.2xlarge
          Networking: {SubnetId: subnet-0a1b2c3d4e5f60718}
          Iam: {AdditionalIamPolicies: [{Policy: "arn:aws:iam::aws:policy/AdministratorAccess"}]}
        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: cpu
              ComputeResources: [{Name: cpu, InstanceType: m7i.4xlarge}]
              Networking: {SubnetIds: [subnet-0a1b2c3d4e5f60718]}

    ## Passes

        # as the first that fails, but
        HeadNode:
          Iam: {AdditionalIamPolicies: [{Policy: "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"}]}
    """
    seen = set()
    every: list[SlurmCluster | Partition] = [*plan.of(SlurmCluster), *plan.of(Partition)]
    for nodes in every:
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
