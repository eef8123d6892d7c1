from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog import version_key
from compiler.plan.nodes import NodeGroup
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("HLT021")
def image_family_gone(group: NodeGroup, world: World) -> Iterator[Finding]:
    """A node group wants an image that its Kubernetes version does not have.

    Amazon Linux 2 images end with Kubernetes 1.32 (EKS user guide, AL2 AMI deprecation): for 1.33 and later none is
    published, and the group is not created.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, amiFamily: AmazonLinux2}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, amiFamily: AmazonLinux2023}]
    """
    version = world.plan.cluster.kubernetes if world.plan.cluster else ""
    if group.ami_family == "AmazonLinux2" and version and version_key(version) >= (1, 33):
        yield Finding(f"node group `{group.name}` wants `AmazonLinux2`, which Kubernetes {version} does not have",
                      group.where("ami_family"), help="write `amiFamily: AmazonLinux2023`")
