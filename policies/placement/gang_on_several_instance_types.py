from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import FixedPool, titles
from trainyard.judge.model.choice import Choice
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import INSTANCE_TYPE


@rule(
    "PLC081",
    kubernetes="a batch job names a partition, and Slurm's constraints are no labels",
    severity=Severity.WARNING,
    pods=True,
)
def gang_on_several_instance_types(work: Work) -> Iterator[Finding]:
    """The nodes of a job may be of different instance types, since its pods select no group of nodes.

    A device is all that such a pod asks for, and any node with a free one gets it (Kubernetes, assigning pods to
    nodes): ranks on different types run at the pace of the slowest, and run out of memory on the smallest. The groups
    are those of SageMaker HyperPod and managed node groups, which are there before the job is; a NodePool of Karpenter
    that several jobs share is judged by EFA007.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: large, instanceType: g5.12xlarge, desiredCapacity: 2, labels: {team: ml},
            nodeRepairConfig: {enabled: true}}
          - {name: small, instanceType: g4dn.12xlarge, desiredCapacity: 2, labels: {team: ml},
            nodeRepairConfig: {enabled: true}}
        ---
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: lora, namespace: elsewhere}
        spec:
          pytorchReplicaSpecs:
            Worker:
              replicas: 2
              template:
                spec:
                  nodeSelector: {team: ml}
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {requests: {cpu: 40, memory: 128Gi, nvidia.com/gpu: 4},
                      limits: {cpu: 40, memory: 128Gi, nvidia.com/gpu: 4}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]

    ## Passes

        # as the first that fails, but
        kind: PyTorchJob
        spec:
          pytorchReplicaSpecs:
            Worker:
              template: {spec: {nodeSelector: {node.kubernetes.io/instance-type: g5.12xlarge, team: null}}}
    """
    if work.pod is None or not work.gang or work.accelerator is None:
        return
    if INSTANCE_TYPE in work.selector or "pod_affinity" in work.unread:
        return
    for choice in work.choices:
        types = _types(choice)
        if len(types) > 1:
            pools = listed(titles(choice.pools))
            yield Finding(
                f"{work.title} may land on {listed(types)} at once: it selects none of the groups {pools}",
                work.pod.where("node_selector"),
                label="as fast as the slowest",
                help=f"add `nodeSelector: {{{INSTANCE_TYPE}: …}}`, or the label of one group",
            )
            return


def _types(choice: Choice) -> list[str]:
    """The instance types that the groups of a choice are of; () where one of them is no group of one type."""
    types: dict[str, None] = {}
    for pool in choice.pools:
        own = [instance.name for other, instance in choice.offers if other is pool]
        if not isinstance(pool, FixedPool) or len(own) != 1:
            return []
        types[own[0]] = None
    return list(types)
