from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.offers import other_sizes
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import INSTANCE_TYPE


@rule("PLC061", kubernetes="a batch job names a partition, and no label of nodes", pods=True)
def unknown_instance_type_of_job(work: Work, world: World) -> Iterator[Finding]:
    """The node selector of a job names a size that its instance family does not have.

    No node ever has that label, and the pods stay Pending (catalog: EC2 DescribeInstanceTypes). Families that the
    catalog does not know are not judged; where the set has pools, PLC005 says which of them the job cannot use.

    ## Fails

        {apiVersion: karpenter.sh/v1, kind: NodePool, $patch: delete}
        ---
        apiVersion: batch/v1
        kind: Job
        metadata: {name: bert, namespace: team-b, labels: {kueue.x-k8s.io/queue-name: elsewhere}}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {node.kubernetes.io/instance-type: p4d.48xlarge},
          containers: [{name: train, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
            resources: {requests: {cpu: 90, memory: 1000Gi}, limits: {cpu: 90, memory: 1000Gi}}}]}}}

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: bert, namespace: team-b, labels: {kueue.x-k8s.io/queue-name: elsewhere}}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge},
          containers: [{name: train, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
            resources: {requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8},
              limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8}}}]}}}
    """
    pods = [patch.pod for patch in work.patches]
    if work.pod is not None:
        pods.append(work.pod)
    if world.pools or not pods:
        return
    named = {pod.node_selector.get(INSTANCE_TYPE, "") for pod in pods}
    for name in sorted(named - {""}):
        known = other_sizes(name, world.catalog)
        if known:
            yield Finding(
                f"there is no instance type `{name}`, which {work.title} selects",
                work.where_selected(INSTANCE_TYPE),
                label="its pods stay Pending",
                help=f"the family has {listed(known)}",
            )
