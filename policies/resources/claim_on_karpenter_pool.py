from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.bodies import spec_of, templates
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Plan


@rule("LIM054")
def claim_on_karpenter_pool(plan: Plan, world: World) -> Iterator[Finding]:
    """Pods take their devices by resource claims, and Karpenter is to launch their nodes.

    Karpenter and EKS Auto Mode do not launch nodes for pods with `resourceClaims` (EKS user guide, ml-eks-nvidia-
    ultraserver and device-management: DRA works with node groups and static pools): the pods stay Pending. Static
    pools, with `replicas`, and node groups have their nodes before.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              resourceClaims: [{name: gpus, resourceClaimTemplateName: gpus}]
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py],
                resources: {claims: [{name: gpus}]}}]

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {replicas: 2, limits: {nodes: 2}, disruption: null}
        ---
        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              resourceClaims: [{name: gpus, resourceClaimTemplateName: gpus}]
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py],
                resources: {claims: [{name: gpus}]}}]
    """
    for template in world.once(templates):
        spec, at = spec_of(world, template.pod)
        if not isinstance(spec, dict) or not spec.get("resourceClaims"):
            continue
        pools = [pool for pool in world.pools if world.may_match(pool, template.pod.node_selector)]
        if not pools or not all(_is_launched(pool, world) for pool in pools):
            continue
        yield Finding(
            f"the pods of {template.title} have resource claims, and Karpenter launches no node for these",
            at / "resourceClaims",
            label="they stay Pending",
            help="ask for `nvidia.com/gpu` instead, or take a static pool (`replicas`) or a node group",
        )


def _is_launched(pool: Pool, world: World) -> bool:
    return isinstance(pool, NodePool) and world.starts_empty(pool)
