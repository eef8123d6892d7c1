from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.core.pods.plan import ACCELERATORS
from trainyard.judge.model.values import mapping, mappings_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule("LIM055", severity=Severity.WARNING, kinds=("ray.io/RayJob", "kubeflow.org/MPIJob"))
def nodes_kept_after_job(manifest: Manifest) -> Iterator[Finding]:
    """The pods of a job stay with their accelerators after it has ended.

    A RayJob makes a RayCluster, and deletes it only with `shutdownAfterJobFinishes: true`, which is off by default
    (KubeRay v1.6.2, RayJobSpec). The workers of an MPIJob run sshd until they are deleted, which its default,
    `cleanPodPolicy: None`, leaves out (mpi-operator v0.8.2, SetDefaults_MPIJob). Their nodes are paid for until
    somebody looks.

    ## Fails

        apiVersion: ray.io/v1
        kind: RayJob
        metadata: {name: tune, namespace: team-a}
        spec:
          entrypoint: python tune.py
          rayClusterSpec:
            headGroupSpec: {template: {spec: {containers: [{name: head, image: "ray:2.0",
              resources: {requests: {cpu: 1, memory: 4Gi}, limits: {cpu: 1, memory: 4Gi}}}]}}}
            workerGroupSpecs:
              - groupName: gpu
                replicas: 1
                template: {spec: {nodeSelector: {karpenter.sh/nodepool: gpu},
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}],
                  containers: [{name: worker, image: "ray:2.0",
                  resources: {requests: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1},
                    limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}}]}}

        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {name: tune, namespace: team-a}
        spec:
          runPolicy: {cleanPodPolicy: None}
          slotsPerWorker: 8
          mpiReplicaSpecs:
            Launcher: {template: {spec: {containers: [{name: launcher, image: "registry.example/tune:1.0",
              command: [mpirun, ./tune],
              resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]}}}
            Worker:
              replicas: 2
              template:
                spec:
                  nodeSelector: {karpenter.sh/nodepool: gpu}
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
                  containers:
                  - name: worker
                    image: "registry.example/tune:1.0"
                    command: [bash, -c, "/usr/sbin/sshd -p 2222; sleep infinity"]
                    volumeMounts: [{name: shm, mountPath: /dev/shm}]
                    resources:
                      requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                        vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}
                      limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                        vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}

    ## Passes

        # as the first that fails, but
        kind: RayJob
        spec: {shutdownAfterJobFinishes: true}
    """
    spec = mapping(manifest.body, "spec")
    at = Route((manifest.id,))
    title = f"job `{manifest.ref.name}`"
    if manifest.ref.kind == "RayJob":
        own = not spec.get("clusterSelector")
        deletes = spec.get("shutdownAfterJobFinishes") is True or spec.get("deletionStrategy")
        groups = mappings_at(spec, "rayClusterSpec", "workerGroupSpecs")
        if own and not deletes and any(_has_devices(value_at(each, "template")) for each in groups):
            said = "shutdownAfterJobFinishes" in spec
            yield Finding(
                f"the RayCluster of {title} stays after it has ended, with its accelerators",
                at / "spec" / "shutdownAfterJobFinishes" if said else at / "kind",
                label="its nodes are paid for until somebody deletes it",
                help="write `shutdownAfterJobFinishes: true`",
            )
        return
    if not str(manifest.body.get("apiVersion")).endswith("/v2beta1"):
        return
    policy = value_at(spec, "runPolicy", "cleanPodPolicy")
    worker = value_at(spec, "mpiReplicaSpecs", "Worker", "template")
    if policy in (None, "None") and _has_devices(worker):
        yield Finding(
            f"the workers of {title} stay after it has ended, with their accelerators",
            at / "spec" / "runPolicy" / "cleanPodPolicy" if policy else at / "kind",
            label="their nodes are paid for until somebody deletes them",
            help="write `runPolicy: {cleanPodPolicy: Running}`",
        )


def _has_devices(template: Any) -> bool:
    for container in mappings_at(template, "spec", "containers"):
        resources = value_at(container, "resources")
        asked = {*mapping(resources, "limits"), *mapping(resources, "requests")}
        if not asked.isdisjoint(ACCELERATORS):
            return True
    return False
