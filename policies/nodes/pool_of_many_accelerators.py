from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import ACCELERATED, AUTO_MODE, KARPENTER, instance_values
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import INSTANCE_TYPE

_NARROWING = ("family", "gpu-name", "gpu-memory", "accelerator-name", "generation")


@rule("PLC060", severity=Severity.WARNING)
def pool_of_many_accelerators(pool: NodePool) -> Iterator[Finding]:
    """A node pool allows accelerated instances of several categories, and does not restrict the accelerator.

    `g` and `p` are everything from one T4 to eight B200, and the AMD GPUs of g4ad (karpenter-provider-aws v1.14.1,
    label `instance-category`). Karpenter takes the cheapest that is free: jobs that ran yesterday are out of memory
    today, and two nodes of a gang differ.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: any}
        spec:
          limits: {nvidia.com/gpu: 16}
          disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 15m}
          template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu},
            taints: [{key: example.com/any, effect: NoSchedule}],
            requirements: [{$patch: replace},
              {key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: any}
        spec:
          limits: {nvidia.com/gpu: 16}
          disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 15m}
          template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu},
            taints: [{key: example.com/any, effect: NoSchedule}],
            requirements: [{$patch: replace},
              {key: karpenter.k8s.aws/instance-category, operator: In, values: [g, p]},
              {key: karpenter.k8s.aws/instance-gpu-name, operator: In, values: [h100]}]}}
    """
    categories = instance_values(pool, "category") or ()
    accelerated = sorted(ACCELERATED.intersection(categories))
    if len(accelerated) < 2 or pool.unread:
        return
    labels = {requirement.key for requirement in pool.requirements}
    narrowing = {
        f"{domain}instance-{name}" for domain in (KARPENTER, AUTO_MODE) for name in _NARROWING
    }
    if labels & {INSTANCE_TYPE, *narrowing}:
        return
    yield Finding(
        f"pool `{pool.title}` allows every accelerator of the categories {listed(accelerated)}",
        pool.where("requirements"),
        label="from the smallest GPU to the largest",
        help="require `node.kubernetes.io/instance-type`, or `karpenter.k8s.aws/instance-gpu-name`",
    )
