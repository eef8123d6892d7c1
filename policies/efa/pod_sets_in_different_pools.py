from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import BESIDE_NODES, EFA
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_GROUP = "kueue.x-k8s.io/podset-group-name"


@rule("EFA032", gangs=True, kubernetes="a batch job has one set of nodes, all of one partition")
def pod_sets_in_different_pools(work: Work) -> Iterator[Finding]:
    """A job talks over EFA between two PodSets, and Kueue may give each another flavor of its queue.

    Kueue assigns one flavor to each resource of a PodSet, and chooses for each PodSet by itself, unless both are in one
    PodSet group (kueue v0.19.2, flavorassigner, groupedRequests). The replicated jobs of a runtime or of a JobSet are
    PodSets, and so are the Master and the Workers of a PyTorchJob; with `runLauncherAsNode` the first node of an MPI
    job is one, and its other nodes are another. Where one pool has room for a part only, the parts land on two pools,
    and EFA does not reach from one to the other in another zone.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: spare}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: spare}
        spec: {nodeLabels: {karpenter.sh/nodepool: spare}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: research}
        spec:
          resourceGroups:
            - flavors:
                - name: gpu
                - name: spare
                  resources:
                    - {name: cpu, nominalQuota: 360}
                    - {name: memory, nominalQuota: 4000Gi}
                    - {name: nvidia.com/gpu, nominalQuota: 32}
                    - {name: vpc.amazonaws.com/efa, nominalQuota: 16}
                    - {name: hugepages-2Mi, nominalQuota: 20Gi}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec:
          mlPolicy: {torch: null, mpi: {numProcPerNode: 8, mpiImplementation: OpenMPI, runLauncherAsNode: true}}
          template:
            spec:
              replicatedJobs:
                - name: node
                  template: {metadata: {labels: null}, spec: {template: {spec: {nodeSelector: null}}}}
                - name: launcher
                  template:
                    metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                    spec:
                      backoffLimit: 0
                      template:
                        metadata: {annotations: {karpenter.sh/do-not-disrupt: "true"}}
                        spec:
                          restartPolicy: Never
                          tolerations: [{key: nvidia.com/gpu, operator: Equal, value: present, effect: NoSchedule}]
                          containers:
                            - {name: node, volumeMounts: [{name: dshm, mountPath: /dev/shm}]}
                          volumes:
                            - {name: dshm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama}
        spec: {trainer: {command: [mpirun, train.py, "--save=s3://example-results/llama"]}}

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: spare}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: spare}
        spec: {nodeLabels: {karpenter.sh/nodepool: spare}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: research}
        spec:
          resourceGroups:
            - flavors:
                - name: gpu
                - name: spare
                  resources:
                    - {name: cpu, nominalQuota: 360}
                    - {name: memory, nominalQuota: 4000Gi}
                    - {name: nvidia.com/gpu, nominalQuota: 32}
                    - {name: vpc.amazonaws.com/efa, nominalQuota: 16}
                    - {name: hugepages-2Mi, nominalQuota: 20Gi}
        ---
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec:
          pytorchReplicaSpecs:
            Master:
              replicas: 1
              template: &pod
                metadata: {annotations: {karpenter.sh/do-not-disrupt: "true"}}
                spec:
                  tolerations: [{key: nvidia.com/gpu, operator: Equal, value: present, effect: NoSchedule}]
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4,
                      hugepages-2Mi: 5Gi}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
            Worker: {replicas: 3, template: *pod}

    ## Passes

        jobs: [{name: llama, launcher: {mpi: {}}, command: [mpirun, train.py]}]

        # as the second that fails, but
        kind: PyTorchJob
        spec:
          pytorchReplicaSpecs:
            Master: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-group-name: nodes}}}}
            Worker: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-group-name: nodes}}}}
    """
    if not work.efa or not work.gang or work.pod is None:
        return
    flavors = {choice.flavor.name for choice in work.choices if choice.flavor}
    if len(flavors) < 2 or not _has_other_nodes(work):
        return
    if _GROUP in work.pod.annotations:
        return
    first, second, *_ = sorted(flavors)
    yield Finding(
        f"{work.title} talks over EFA with nodes in two PodSets, and Kueue may place one by flavor `{first}` and the "
        f"other by `{second}`",
        work.at,
        label="its ranks may land on two pools",
        help="select one pool, or put both into one group by `kueue.x-k8s.io/podset-group-name`",
    )


def _has_other_nodes(work: Work) -> bool:
    """Whether nodes of a job are in a PodSet other than that of its program."""
    if work.own_sets:
        return any(pods.pod is not work.pod and EFA in pods.asks for pods in work.own_sets)
    return any(part.step not in BESIDE_NODES for part, _, _ in work.others)
