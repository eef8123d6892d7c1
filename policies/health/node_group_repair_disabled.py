from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("HLT016", aliases=("node-group-repair-off",), severity=Severity.WARNING)
def node_group_repair_disabled(group: NodeGroup, world: World) -> Iterator[Finding]:
    """Node repair is off for a managed node group with accelerators.

    `nodeRepairConfig.enabled` is off by default (EKS user guide, node-health): a node with a broken GPU stays, and
    jobs keep landing on it.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: gpu, instanceType: p4d.24xlarge, nodeRepairConfig: {enabled: false}}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: gpu, instanceType: p4d.24xlarge, nodeRepairConfig: {enabled: true}}]
    """
    types = [world.catalog.instance(name) for name in group.instance_types]
    if (
        group.managed
        and not group.repair
        and any(instance is not None and instance.accelerators for instance in types)
    ):
        yield Finding(
            f"node group `{group.title}` has accelerators and no node repair",
            group.where("repair"),
            help="write `nodeRepairConfig: {enabled: true}`",
        )
