from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.ami_families import of_alias, of_eksctl
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("HLT021", aliases=("image-family-gone",))
def ami_family_unsupported(cluster: Cluster, world: World) -> Iterator[Finding]:
    """Nodes use an image that does not exist for their Kubernetes version.

    Amazon Linux 2 images end with Kubernetes 1.32 (EKS user guide, AL2 AMI deprecation): for 1.33 and later none is
    published, and no node comes up. Where the version is not in the set, a node class of `AL2` is HLT041.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, amiFamily: AmazonLinux2}]

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {amiSelectorTerms: [{alias: al2@v20250519}]}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, amiFamily: AmazonLinux2023}]
    """
    said = f"which Kubernetes {cluster.kubernetes} does not have"
    for group in cluster.node_groups:
        family = of_eksctl(group.ami_family or "")
        if family is not None and not family.is_for(cluster.kubernetes):
            yield Finding(
                f"node group `{group.title}` uses `{family.eksctl}`, {said}",
                group.where("ami_family"),
                help="write `amiFamily: AmazonLinux2023`",
            )
    for node_class in world.plan.of(NodeClass):
        family = of_alias(node_class.ami_alias or "")
        if family is not None and not family.is_for(cluster.kubernetes):
            yield Finding(
                f"node class `{node_class.name}` uses `{node_class.ami_alias}`, {said}",
                node_class.where("ami_alias"),
                help="write `alias: al2023@v20260714`",
            )
