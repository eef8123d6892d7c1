from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import indexed, mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, placeholder
from trainyard.plan import Plan

_DISCOVERY = "karpenter.sh/discovery"
_OWNED = "kubernetes.io/cluster/"
_SELECTORS = ("subnetSelectorTerms", "securityGroupSelectorTerms")


@rule("PLC062", severity=Severity.WARNING)
def cluster_name_differs(plan: Plan, world: World) -> Iterator[Finding]:
    """Karpenter is set up for a cluster of another name than the one in the set.

    It finds subnets and security groups by the tag `karpenter.sh/discovery`, or `kubernetes.io/cluster/NAME`, and its
    cluster by `settings.clusterName` (Karpenter 1.14, getting started): with another name it launches nothing, or
    nodes for another cluster. Nothing is reported where the ClusterConfig sets that tag itself, of a VPC that is there
    before the cluster, and where a set has no ClusterConfig.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: my-efa-cluster, region: us-west-2, version: "1.35"}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: my-efa-cluster, region: us-west-2, version: "1.35", tags: {karpenter.sh/discovery: a}}
    """
    names, tags = set(), set()
    for manifest in world.manifests:
        if manifest.ref.kind == "ClusterConfig":
            names.add(manifest.ref.name)
            if any(mapping(manifest.body, "vpc").get(key) for key in ("id", "subnets")):
                return
            tags.add(mapping(manifest.body, "metadata", "tags").get(_DISCOVERY))
    tags.discard(None)
    if not names or any(placeholder(name) for name in names):
        return
    known = names | {str(tag) for tag in tags}
    for release in plan.of(HelmRelease):
        if release.chart.rpartition("/")[2] == "karpenter":
            said = value_at(release.values, "settings", "clusterName")
            if isinstance(said, str) and _is_other(said, names):
                yield _finding("Karpenter", said, names, release.where("values"))
    for manifest in world.manifests:
        if manifest.ref.kind == "EC2NodeClass":
            yield from _of_class(manifest, known, names)


def _of_class(manifest: Manifest, known: set[str], names: set[str]) -> Iterator[Finding]:
    for selector in _SELECTORS:
        for index, term in indexed(manifest.body, "spec", selector):
            found = _named(mapping(term, "tags"), known)
            if found:
                key, said = found
                at = Route((manifest.id, "spec", selector, index, "tags", key))
                who = f"node class `{manifest.ref.name}`"
                yield _finding(who, said, names, at, key)


def _named(tags: Mapping[str, object], known: set[str]) -> tuple[str, str] | None:
    """The tag that names another cluster, and that name."""
    for key, text in tags.items():
        if key == _DISCOVERY and isinstance(text, str) and _is_other(text, known):
            return key, text
        if key.startswith(_OWNED) and _is_other(key.removeprefix(_OWNED), known):
            return key, key.removeprefix(_OWNED)
    return None


def _is_other(name: str, known: set[str]) -> bool:
    return bool(name) and name != "*" and not placeholder(name) and name not in known


def _finding(who: str, said: str, names: set[str], at: Route, tag: str = _DISCOVERY) -> Finding:
    cluster = min(names)
    help = f"write `{cluster}`, or give the cluster the tag `{_DISCOVERY}: {said}`"
    if tag != _DISCOVERY:
        help = f"write `{_OWNED}{cluster}`"
    return Finding(
        f"{who} is for cluster `{said}`, and the cluster of the set is `{cluster}`",
        at,
        label="it finds nothing in this cluster",
        help=help,
    )
