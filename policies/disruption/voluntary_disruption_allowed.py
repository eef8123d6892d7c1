from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import ACCELERATORS, Pod
from trainyard.core.pools.plan import Pool
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import HOLDS, forbids_disruption, unread_holds
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule(
    "HLT013",
    kubernetes="it is Karpenter that consolidates nodes",
    aliases=("disruption-allowed",),
    severity=Severity.WARNING,
    gangs=True,
    roles=True,
)
def voluntary_disruption_allowed(work: Work) -> Iterator[Finding]:
    """Nothing keeps Karpenter from disrupting the nodes of a running job.

    The annotation `karpenter.sh/do-not-disrupt: "true"` on the pods keeps drift and consolidation away from their
    nodes (karpenter v1.14, disruption); a new AMI otherwise replaces the nodes under a job. Budgets of no nodes hold
    them as well.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {metadata: {
          annotations: {karpenter.sh/do-not-disrupt: null}}}}}}]}}}

    ## Passes

        jobs: [{name: llama}]
    """
    if work.pod is None or not work.is_accelerated:
        return
    if work.runtime is None and work.nodes == 1:
        return  # of others it may be anything that ends soon
    if all(map(_is_never_disrupted, work.pools)):
        return
    for pod in _nodes(work):
        if unread_holds(pod.annotations):
            return  # HLT079 says it
        if pod.annotations.get(HOLDS) != "true":
            yield Finding(
                f"pods of {work.title} have no `karpenter.sh/do-not-disrupt`",
                pod.where("annotations"),
                help='add the annotation `karpenter.sh/do-not-disrupt: "true"` to the pod template',
            )
            return


def _nodes(work: Work) -> Iterator[Pod]:
    """The pods that have accelerators, of each part of the job once."""
    if work.pod is not None:
        yield work.pod
    for pods in work.own_sets:
        if pods.pod is not None and not pods.asks.keys().isdisjoint(ACCELERATORS):
            yield pods.pod


def _is_never_disrupted(pool: Pool) -> bool:
    """Whether Karpenter disrupts no node of a pool that runs something: it is not Karpenter's, or budgets forbid it."""
    if not isinstance(pool, NodePool):
        return True
    if not forbids_disruption(pool, "Drifted"):
        return False
    packs = pool.consolidation != "WhenEmpty"
    return not packs or forbids_disruption(pool, "Underutilized")
