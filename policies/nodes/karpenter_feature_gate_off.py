from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.nodes.plan import NodeOverlay, NodePool
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("PLC031", aliases=("feature-gate-off",))
def karpenter_feature_gate_off(release: HelmRelease, world: World) -> Iterator[Finding]:
    """A pool needs a feature gate of Karpenter that is off.

    Reserved capacity is behind `settings.featureGates.reservedCapacity` (on unless it says `false`), `replicas` behind
    `staticCapacity`, NodeOverlays behind `nodeOverlay` (off unless it says `true`; karpenter-provider-aws v1.14.1,
    chart values; karpenter v1.14 controllers.go): without its gate Karpenter launches no node for the pool, or for the
    pods that need what the overlay declares.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: karpenter, namespace: flux-system}
        spec: {chart: {spec: {chart: karpenter, version: 1.14.1}}, values: {settings: {clusterName: a}}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: standing}
        spec:
          replicas: 4
          limits: {$patch: replace, nodes: 5}
          template: {spec: {requirements: [
            {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.2xlarge]}]}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: karpenter, namespace: flux-system}
        spec: {chart: {spec: {chart: karpenter, version: 1.14.1}}, values: {settings: {clusterName: a}}}
        ---
        apiVersion: karpenter.sh/v1alpha1
        kind: NodeOverlay
        metadata: {name: gpu}
        spec:
          requirements: [{key: karpenter.sh/nodepool, operator: In, values: [gpu]}]
          capacity: {hugepages-2Mi: 10256Mi}

    ## Passes

        # as the first that fails, but
        kind: HelmRelease
        spec: {values: {settings: {featureGates: {staticCapacity: true}, clusterName: null}}}
    """
    if release.chart != "karpenter":
        return
    pools, overlays = world.plan.of(NodePool), world.plan.of(NodeOverlay)
    reserved = [pool for pool in pools if pool.capacity_types == ("reserved",)]
    static = [pool for pool in pools if pool.replicas is not None]
    needs: dict[str, str] = {}
    if reserved:
        name = reserved[0].title
        needs["reservedCapacity"] = f"pool `{name}` takes `reserved` capacity only"
    if static:
        needs["staticCapacity"] = f"pool `{static[0].title}` has `replicas`"
    if overlays:
        needs["nodeOverlay"] = f"overlay `{overlays[0].name}` exists"
    for gate, need in needs.items():
        if _off(gate, release):
            yield Finding(
                f"{need}, and Karpenter's feature gate `{gate}` is off",
                release.where("values"),
                label="no node is ever launched",
                help=f"set `settings.featureGates.{gate}: true`",
            )


def _off(gate: str, release: HelmRelease) -> bool:
    """Whether a feature gate is certainly off: `reservedCapacity` alone is on by default."""
    given = value_at(release.values, "settings", "featureGates", gate)
    if given is None:
        return gate != "reservedCapacity" and "values" not in release.unread
    return given is False
