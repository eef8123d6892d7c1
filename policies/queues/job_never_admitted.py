from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.simulate.forecasts import outlook
from trainyard.judge.model.contention import contended
from trainyard.judge.model.fit import (
    exceeds_huge_pages,
    exceeds_node,
    exceeds_pool,
    quota_shortfall,
)
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World

_REPORTED = frozenset({"queue", "uncovered", "namespace", "stopped", "selector", "taints"})
"""What excludes a job and has a rule of its own, where it is the only reason."""


@rule("QUE033", kubernetes="Kueue admits jobs: Slurm places them as nodes become free")
def job_never_admitted(work: Work, world: World) -> Iterator[Finding]:
    """Kueue admits a job nowhere, even if no other job is there.

    Found by simulating its admission (kueue v0.19.2, docs/simulate.md): what it asks for, the quotas of its queue, the
    labels and taints of flavors, and the nodes in each domain of a topology do not go together. Constraints that have
    a rule of their own are reported by that.

    ## Fails

        # a whole cluster
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Topology
        metadata: {name: network}
        spec: {levels: [{nodeLabel: topology.kubernetes.io/zone}, {nodeLabel: kubernetes.io/hostname}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: gpu}
        spec: {topologyName: network}
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          networkInterfaces:
            - {networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}
            - {networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only}
            - {networkCardIndex: 1, deviceIndex: 1, interfaceType: efa-only}
            - {networkCardIndex: 2, deviceIndex: 1, interfaceType: efa-only}
            - {networkCardIndex: 3, deviceIndex: 1, interfaceType: efa-only}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          replicas: 4
          limits: {nodes: "4", nvidia.com/gpu: null}
          disruption: {consolidationPolicy: null}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {annotations: {"kueue.x-k8s.io/podset-required-topology": kubernetes.io/hostname}}

    ## Passes

        # as the first that fails, but
        kind: TrainJob
        metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: topology.kubernetes.io/zone}}
    """
    if not world.plan.closed or not world.once(contended):
        return  # of others' files nobody knows what else is there
    waiting = world.once(outlook).get(work.key)
    if waiting is None or not waiting.never or waiting.kinds <= _REPORTED:
        return
    if exceeds_node(work, world) or exceeds_pool(work, world) or exceeds_huge_pages(work, world):
        return
    if quota_shortfall(work, world):
        return
    reasons = "; ".join(waiting.reasons)
    yield Finding(
        f"job `{work.name}` is never admitted: {reasons}",
        work.where("queue"),
        label="it waits for ever",
        help="`trainyard simulate` says which change lets it in",
    )
