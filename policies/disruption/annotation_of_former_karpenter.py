from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.bodies import templates
from trainyard.judge.model.offers import HOLDS, unread_holds
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("HLT079", severity=Severity.WARNING)
def annotation_of_former_karpenter(plan: Plan, world: World) -> Iterator[Finding]:
    """Pods have an annotation against eviction that Karpenter does not read.

    Since v1beta1 it is `karpenter.sh/do-not-disrupt` (karpenter v1.14, disruption; the upgrade guide of v0.33):
    `do-not-evict` and `do-not-consolidate` of before are without effect, and so is that of the Cluster Autoscaler.
    The nodes of the job may be consolidated or replaced under it.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            metadata: {annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: "false"}}
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py]}]

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            metadata: {annotations: {karpenter.sh/do-not-disrupt: "true"}}
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py]}]
    """
    if not plan.of(NodePool):
        return
    for template in world.once(templates):
        annotations = template.pod.annotations
        if annotations.get(HOLDS) == "true":
            continue
        found = unread_holds(annotations)
        pools = [pool for pool in world.pools if world.may_match(pool, template.pod.node_selector)]
        if not found or not pools or not all(map(_of_karpenter, pools)):
            continue
        yield Finding(
            f"the pods of {template.title} have `{found[0]}`, which Karpenter does not read",
            template.pod.where("annotations") / found[0],
            key=True,
            label="its nodes may be consolidated under it",
            help=f'write `{HOLDS}: "true"`',
        )


def _of_karpenter(pool: Pool) -> bool:
    return isinstance(pool, NodePool)
