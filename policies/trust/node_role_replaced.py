from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Bootstrap
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("ACC053")
def node_role_replaced(node_class: NodeClass, world: World) -> Iterator[Finding]:
    """A patch gives the nodes of a pool another IAM role than the one that the bootstrap makes for them.

    Whoever is root on a node has its role. No node joins the cluster with a role that has no access entry (EKS user
    guide, access entries: type EC2_LINUX), and Karpenter may not pass one that its own policy does not name
    (Karpenter 1.14, reference: CloudFormation, AllowPassingInstanceRole): nodes are launched, paid for, and never
    ready. In third-party manifests the role is their author's, and is not judged.

    ## Fails

        patches: [{target: {kind: EC2NodeClass}, patch: {spec: {role: Administrator}}}]

        patches: [{target: {kind: EC2NodeClass}, patch: {spec: {role: null, instanceProfile: administrators}}}]

    ## Passes

        patches: [{target: {kind: EC2NodeClass}, patch: {spec: {detailedMonitoring: true}}}]
    """
    boot = world.plan.one(Bootstrap)
    if boot is None:
        return
    name = f"nodes of `{node_class.name}`"
    if node_class.role not in (None, boot.node_role):
        yield Finding(
            f"{name} get the role `{node_class.role}`, not `{boot.node_role}`",
            node_class.where("role"),
            label="no node joins with it, and whoever is root on one has its rights",
            help=f"remove the patch; what nodes may do belongs to `{boot.node_role}`",
        )
    if node_class.instance_profile not in (None, boot.instance_profile):
        yield Finding(
            f"{name} get the instance profile `{node_class.instance_profile}`, whose role is not `{boot.node_role}`",
            node_class.where("instance_profile"),
            label="no node joins with another role, and whoever is root on one has its rights",
            help=f"remove the patch; what nodes may do belongs to `{boot.node_role}`",
        )
