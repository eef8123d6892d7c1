from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.ami_families import of_alias
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("HLT018", aliases=("image-drifts",), severity=Severity.WARNING)
def ami_not_pinned(node_class: NodeClass) -> Iterator[Finding]:
    """A node class follows the newest image.

    With `alias: …@latest` every new image is drift, and Karpenter replaces all nodes of the class
    (karpenter.k8s.aws/v1 EC2NodeClass `amiSelectorTerms`): new drivers arrive under running work, on a day that
    nobody chose.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {amiSelectorTerms: [{alias: al2023@latest}]}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {amiSelectorTerms: [{alias: al2023@v20260714}]}
    """
    alias = node_class.ami_alias or ""
    family = of_alias(alias)
    if family is not None and not family.pinned:
        return
    name, _, version = alias.partition("@")
    if version == "latest":
        example = "v20260714" if family is None or family.by_day else "v1.50.0"
        yield Finding(
            f"node class `{node_class.name}` follows `{node_class.ami_alias}`",
            node_class.where("ami_alias"),
            help=f"pin the version, like `{name}@{example}`",
        )
