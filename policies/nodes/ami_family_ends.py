from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.places import Route
from compiler.platforms.eks.cluster.plan import Cluster
from compiler.platforms.eks.nodes.plan import NodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("HLT041", severity=Severity.WARNING)
def ami_family_ends(node_class: NodeClass, world: World) -> Iterator[Finding]:
    """A node class boots Amazon Linux 2, of which EKS publishes no images any more.

    There is none for Kubernetes 1.33 and later, and since 26 November 2025 none that is new (EKS user guide, AL2 AMI
    deprecation): the next upgrade of the cluster leaves the pool without nodes. Of an alias, where the set says the
    version of the cluster, HLT021 judges.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {amiFamily: AL2, amiSelectorTerms: [{$patch: replace, alias: al2@v20250519}]}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {amiFamily: AL2023, amiSelectorTerms: [{$patch: replace, alias: al2023@v20260714}]}
    """
    cluster = world.plan.one(Cluster)
    by_alias = (node_class.ami_alias or "").startswith("al2@")
    if by_alias and cluster is not None and cluster.kubernetes:
        return
    if by_alias or _is_of_eks(node_class):
        yield Finding(
            f"node class `{node_class.name}` boots Amazon Linux 2",
            node_class.where("ami_alias")
            if by_alias
            else Route((*node_class.at, "spec", "amiFamily")),
            label="no image for Kubernetes 1.33 and later",
            help="write `alias: al2023@v20260714`",
        )


def _is_of_eks(node_class: NodeClass) -> bool:
    """Whether a class selects EKS' own images of Amazon Linux 2: an image of one's own may be for any version."""
    named = [name.lstrip("*") for name in node_class.ami_names]
    if any(name.startswith(("amazon-eks-node-", "amazon-eks-gpu-node-")) for name in named):
        return node_class.ami_family == "AL2"
    return any(
        f"/amazon-linux-2{end}" in parameter
        for parameter in node_class.ami_parameters
        for end in ("/", "-gpu/", "-arm64/")
    )
