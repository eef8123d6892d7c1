from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.fit import pods_of_node
from trainyard.judge.model.storage import EBS, ONE_NODE, ONE_POD
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule(
    "RUN029",
    kubernetes="claims are of Kubernetes: the head node shares its volumes by NFS",
    aliases=("gang-on-a-disk",),
    pods=True,
)
def gang_on_single_node_volume(work: Work, world: World) -> Iterator[Finding]:
    """The nodes of a gang mount a claim that only one node or pod can use.

    An EBS disk is attached to one instance (`ReadWriteOnce`; EBS Multi-Attach takes no file systems), and a claim that
    is `ReadWriteOncePod` goes to one pod (Kubernetes, persistent volumes). The first pod gets it, the others wait, and
    the gang with them.

    ## Fails

        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: team-a}
        spec: {storageClassName: gp2, accessModes: [ReadWriteOnce], resources: {requests: {storage: 500Gi}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}],
          containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]}}}}}]}}}

    ## Passes

        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: team-a}
        spec: {storageClassName: fsx-lustre, accessModes: [ReadWriteMany], resources: {requests: {storage: 1200Gi}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}],
          containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]}}}}}]}}}

        # four pods that one node holds
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: team-a}
        spec: {storageClassName: gp2, accessModes: [ReadWriteOnce], resources: {requests: {storage: 500Gi}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}],
          containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]}}}}}]}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama, namespace: team-a}
        spec: {trainer: {numProcPerNode: 2, resourcesPerNode: {
          requests: {cpu: 20, memory: 200Gi, nvidia.com/gpu: 2, vpc.amazonaws.com/efa: null, hugepages-2Mi: null},
          limits: {cpu: 20, memory: 200Gi, nvidia.com/gpu: 2, vpc.amazonaws.com/efa: null, hugepages-2Mi: null}}}}
    """
    if work.pod is None or not work.gang:
        return
    for name in sorted(work.claims):
        claim = world.storage.claim(work.namespace, name)
        if claim is None or not claim.access_modes:
            continue
        modes = set(claim.access_modes)
        alone = modes == {ONE_POD}
        disk = world.storage.driver(claim) == EBS and modes <= {ONE_NODE, ONE_POD}
        if alone or (disk and _on_several_nodes(work, world)):
            one = "pod" if alone else "node"
            yield Finding(
                f"{work.title} has {work.nodes} nodes, and one {one} can have claim `{claim.name}`",
                claim.where("access_modes"),
                label="the other pods wait for it",
                help="mount a file system of many nodes, like FSx for Lustre with `ReadWriteMany`",
            )


def _on_several_nodes(work: Work, world: World) -> bool:
    """Whether no node that the job may get holds all of its pods."""
    if work.nodes is None or not work.offers:
        return False
    held = [pods_of_node(work, pool, instance, world) for pool, instance in work.offers]
    return all(pods is not None and pods < work.nodes for pods in held)
