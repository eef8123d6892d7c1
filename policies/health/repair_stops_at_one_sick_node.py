from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_SHARE = "maxUnhealthyNodeThresholdPercentage"


@rule("HLT056", severity=Severity.WARNING)
def repair_stops_at_one_sick_node(group: NodeGroup) -> Iterator[Finding]:
    """One sick node is already so large a part of its node group that node repair stops.

    EKS repairs no node of a group while more than `maxUnhealthyNodeThresholdPercentage` of its nodes are sick (EKS user
    guide, node-repair, commit dbc0b729): where one node is more than that, none is ever repaired. Karpenter stops at
    20% of a NodePool's nodes, rounded up, so that one of them is always repaired (kubernetes-sigs/karpenter,
    pkg/controllers/node/health).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - name: gpu
            instanceType: p4d.24xlarge
            desiredCapacity: 4
            nodeRepairConfig: {enabled: true, maxUnhealthyNodeThresholdPercentage: 20}

    ## Passes

        # as the first that fails, but
        kind: ClusterConfig
        managedNodeGroups: [{name: gpu, nodeRepairConfig: {maxUnhealthyNodeThresholdPercentage: 25}}]
    """
    share = group.repair_config.get(_SHARE)
    nodes = group.desired
    if not group.repair or not isinstance(share, int) or not nodes:
        return
    if nodes * share >= 100:
        return
    yield Finding(
        f"node group `{group.title}` has {nodes} nodes, and one node is more than {share}%: no sick node is repaired",
        group.where("repair"),
        help=f"write `{_SHARE}: {-(-100 // nodes)}` or more, or `maxUnhealthyNodeThresholdCount: 1`",
    )
