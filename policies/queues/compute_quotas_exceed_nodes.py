from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.extensions.hyperpod.governance.plan import ComputeQuota
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("QUE032")
def compute_quotas_exceed_nodes(quota: ComputeQuota, world: World) -> Iterator[Finding]:
    """The compute quotas of all teams have more nodes of an instance type than the cluster.

    SageMaker takes the request, and Kueue admits by quota and does not look at nodes (kueue v0.19.2): the jobs of the
    last team that comes hold their quota, and wait for nodes that are not there.

    ## Fails

        ClusterArn: arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12
        Name: research
        ComputeQuotaTarget: {TeamName: research}
        ComputeQuotaConfig:
          ComputeQuotaResources: [{InstanceType: ml.p4d.24xlarge, Count: 5}]
        ---
        ClusterName: lab
        InstanceGroups: [{InstanceGroupName: a100, InstanceType: ml.p4d.24xlarge, InstanceCount: 4,
          ExecutionRole: "arn:aws:iam::111122223333:role/nodes"}]

    ## Passes

        # as the first that fails, but
        ComputeQuotaConfig: {ComputeQuotaResources: [{Count: 4}]}
    """
    groups = world.plan.of(InstanceGroup)
    if not groups or any(group.replicas is None for group in groups):
        return
    there: Counter[str] = Counter()
    for group in groups:
        for name in group.instance_types or ():
            there[name] += group.replicas or 0
    before: Counter[str] = Counter()
    for other in world.plan.of(ComputeQuota):
        if other is quota:
            break
        before.update(other.nodes)
    for name, count in quota.nodes.items():
        if before[name] <= there[name] < before[name] + count:
            yield Finding(
                f"with team `{quota.team}` the compute quotas have {before[name] + count} nodes of `ml.{name}`, and "
                f"the cluster has {there[name]}",
                quota.where("nodes"),
                help="lower the quota, or add nodes to the instance group",
                spec_help="lower `nodes` of the quota, or raise `nodes` of the pool",
            )
