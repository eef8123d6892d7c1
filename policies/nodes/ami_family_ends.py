from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.ami_families import AmiFamily, families, of_alias
from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route


@rule("HLT041", severity=Severity.WARNING)
def ami_family_ends(launch: Launch, world: World) -> Iterator[Finding]:
    """A node class or a launch template boots Amazon Linux 2, for which EKS no longer publishes images.

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
    if isinstance(launch, LaunchTemplate):
        yield from _in_template(launch)
    if not isinstance(launch, NodeClass):
        return
    node_class = launch
    cluster = world.plan.one(Cluster)
    named = of_alias(node_class.ami_alias or "")
    by_alias = named is not None and bool(named.last_kubernetes)
    if by_alias and cluster is not None and cluster.kubernetes:
        return
    family = named if by_alias else _ended(node_class)
    if family is not None:
        yield Finding(
            f"node class `{node_class.name}` boots {family.title}",
            node_class.where("ami_alias")
            if by_alias
            else Route((*node_class.at, "spec", "amiFamily")),
            label=f"no image for Kubernetes {family.gone_in} and later",
            help="write `alias: al2023@v20260714`",
        )


def _in_template(template: LaunchTemplate) -> Iterator[Finding]:
    """EKS' own images alone: those of one's own may be for any version."""
    family = template.family
    if family is not None and family.last_kubernetes and not template.own_image:
        yield Finding(
            f"{template.words} boots {family.title}",
            template.where("image"),
            label=f"no image for Kubernetes {family.gone_in} and later",
            help="take an image of Amazon Linux 2023",
        )


def _ended(node_class: NodeClass) -> AmiFamily | None:
    """The family without new images, if a class selects EKS' own images of it: an image of one's own may be for any
    version."""
    ended = [family for family in families().values() if family.last_kubernetes]
    return next((family for family in ended if _is_of_eks(node_class, family)), None)


def _is_of_eks(node_class: NodeClass, family: AmiFamily) -> bool:
    named = [name.lstrip("*") for name in node_class.ami_names]
    if any(name.startswith(family.image_names) for name in named):
        return node_class.ami_family == family.karpenter
    return any(
        part in parameter for parameter in node_class.ami_parameters for part in family.parameters
    )
