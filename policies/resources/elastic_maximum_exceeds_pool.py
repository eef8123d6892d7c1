from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.elastic import elastic_works, workers_that_fit
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import Manifest


@rule(
    "LIM031",
    severity=Severity.WARNING,
    kinds=("kubeflow.org/PyTorchJob", "sagemaker.amazonaws.com/HyperPodPyTorchJob"),
)
def elastic_maximum_exceeds_pool(manifest: Manifest, world: World) -> Iterator[Finding]:
    """An elastic job may grow to more workers than its pool or its queue has accelerators for.

    The operator makes as many pods as its autoscaler asks for, up to `maxReplicas` (training-operator v1.9,
    ElasticPolicy; HyperPod's own operator has the same two bounds, sagemaker-hyperpod 3.12.0). Those that no node has
    room for stay Pending; those that the quota does not cover are never admitted.

    ## Fails

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b}
        spec:
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 8}
          pytorchReplicaSpecs:
            Worker:
              replicas: 1
              template:
                spec:
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8},
                      limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]

        apiVersion: sagemaker.amazonaws.com/v1
        kind: HyperPodPyTorchJob
        metadata: {name: bert, namespace: team-b}
        spec:
          elasticPolicy: {minReplicas: 1, maxReplicas: 8, replicaIncrementStep: 1}
          replicaSpecs:
            - name: workers
              replicas: 1
              template:
                spec:
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [hyperpodrun, train.py],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8},
                      limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]

    ## Passes

        # as the first that fails, but
        kind: PyTorchJob
        spec:
          elasticPolicy: {maxReplicas: 4}
          pytorchReplicaSpecs:
            Worker: {template: {spec: {containers: [{name: pytorch, volumeMounts: null}], volumes: null}}}

        # a whole cluster
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b}
        spec:
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 64}
          pytorchReplicaSpecs:
            Worker:
              replicas: 2
              template:
                spec:
                  nodeSelector: {node.kubernetes.io/instance-type: g6.12xlarge}
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    resources: {limits: {nvidia.com/gpu: 4}}}]
    """
    for bounds, work in elastic_works(manifest, world.pods):
        fits = workers_that_fit(work, world)
        if fits is not None and bounds.most > fits:
            yield Finding(
                f"{work.title} may grow to {bounds.most} workers, and its nodes have room for {fits}",
                bounds.at / "maxReplicas",
                label="the others stay Pending",
                help=f"write `maxReplicas: {fits}`, or raise the limit of the pool",
            )
            return
        if work.queue is None or work.accelerator is None:
            continue
        resource, asked = work.accelerator
        quotas = [
            world.cohorts.borrowable(work.queue, flavor.flavor, resource)
            for flavor in work.queue.flavors()
            if flavor.of(resource) is not None
        ]
        known = [quota.value for quota in quotas if quota is not None]
        if not known or len(known) < len(quotas):
            continue
        admitted = sum(known) // asked
        if bounds.most > admitted:
            yield Finding(
                f"{work.title} may grow to {bounds.most} workers, and its queue has quota for {admitted}",
                bounds.at / "maxReplicas",
                label="the others are never admitted",
                help=f"write `maxReplicas: {admitted}`, or raise the quota",
            )
