from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.judge.model.ray import KINDS, worker_groups
from trainyard.judge.model.values import mapping, mappings_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.language.units import count
from trainyard.output.manifest import Manifest


@rule("RUN202", kinds=KINDS)
def ray_group_hides_gpus(manifest: Manifest) -> Iterator[Finding]:
    """Ray is told of another number of GPUs than its workers have.

    KubeRay gives `ray start` the limit of the first container as `--num-gpus`, unless `rayStartParams` says another
    number (kuberay v1.6.2, common/pod.go). Ray places ranks by that number: with fewer the others stay idle, with more
    ranks share a GPU, or find none. A head with 0, where no rank is to run, is meant.

    ## Fails

        apiVersion: ray.io/v1
        kind: RayJob
        metadata: {name: tune, namespace: team-a}
        spec:
          entrypoint: python tune.py
          shutdownAfterJobFinishes: true
          rayClusterSpec:
            headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: head, image: "r:1"}]}}}
            workerGroupSpecs:
              - groupName: gpu
                replicas: 2
                minReplicas: 2
                maxReplicas: 2
                rayStartParams: {num-gpus: "1"}
                template: {spec: {containers: [{name: worker, image: "r:1", resources: {
                  requests: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8},
                  limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}}]}}

    ## Passes

        # as the first that fails, but
        kind: RayJob
        spec: {rayClusterSpec: {workerGroupSpecs: [{groupName: gpu, rayStartParams: {num-gpus: "8"}}]}}
    """
    for place, group in worker_groups(manifest):
        said = mapping(group, "rayStartParams").get("num-gpus")
        told = count(str(said)) if said is not None else None
        containers = mappings_at(group, "template", "spec", "containers")
        limits = mapping(containers[0], "resources", "limits") if containers else {}
        gpus = count(str(limits.get(GPU, "")))
        if told is None or gpus is None or told == gpus:
            continue
        yield Finding(
            f"group `{value_at(group, 'groupName')}` tells Ray of {told} GPUs, and its pods have {gpus}",
            Route((manifest.id, *place, "rayStartParams", "num-gpus")),
            label="ranks and GPUs do not match",
            help="remove it: KubeRay takes the limit of the container",
        )
