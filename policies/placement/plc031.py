from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.delivery import HelmRelease
from compiler.plan.nodes import NodePool
from compiler.policy.rule import Finding, rule
from compiler.policy.values import value
from compiler.policy.world import World


@rule("PLC031")
def feature_gate_off(release: HelmRelease, world: World) -> Iterator[Finding]:
    """A pool needs a feature of Karpenter that its release leaves off.

    Reserved capacity is behind `settings.featureGates.reservedCapacity` (on unless it says `false`), `replicas` behind
    `staticCapacity` (off unless it says `true`; karpenter-provider-aws v1.14.1, chart values; karpenter v1.14
    controllers.go): without its gate Karpenter launches no node for the pool.

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

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: karpenter, namespace: flux-system}
        spec:
          chart: {spec: {chart: karpenter, version: 1.14.1}}
          values: {settings: {featureGates: {staticCapacity: true}}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: standing}
        spec:
          replicas: 4
          limits: {$patch: replace, nodes: 5}
          template: {spec: {requirements: [
            {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.2xlarge]}]}}
    """
    if release.chart != "karpenter":
        return
    for gate, default, need, pools in (
        ("reservedCapacity", True, "takes `reserved` capacity only", filter(_reserved, world.plan.node_pools)),
        ("staticCapacity", False, "has `replicas`", filter(_static, world.plan.node_pools)),
    ):
        said, pool = value(release.values, "settings", "featureGates", gate), next(pools, None)
        off = said is False or (said is None and not default and "values" not in release.unread)
        if off and pool is not None:
            yield Finding(f"pool `{pool.name}` {need}, and Karpenter's feature gate `{gate}` is off",
                          release.where("values"), label="no node is ever launched",
                          help=f"set `settings.featureGates.{gate}: true`")


def _reserved(pool: NodePool) -> bool:
    return pool.capacity_types == ("reserved",)


def _static(pool: NodePool) -> bool:
    return pool.replicas is not None
