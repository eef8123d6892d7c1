from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import INSTANCE_TYPE, NODEPOOL_LABEL, POOL_LABEL

_MIG = "nvidia.com/mig-"
_PINS = (NODEPOOL_LABEL, POOL_LABEL, INSTANCE_TYPE)


@rule("LIM038", pods=True)
def mig_profile_not_of_gpu(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for a slice of MIG that the GPUs of its nodes cannot be cut into.

    The profiles of a GPU are fixed by its memory: an A100 of 40 GB has `1g.5gb`, one of 80 GB and an H100 `1g.10gb`;
    A10G, L4, L40S and T4 have none (NVIDIA/mig-parted bd7160f, config-default.yaml). The device plugin never offers
    another one, and the pods stay Pending.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              tolerations: [{key: nvidia.com/gpu, operator: Exists}]
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py],
                resources: {requests: {cpu: 8, memory: 64Gi},
                  limits: {cpu: 8, memory: 64Gi, nvidia.com/mig-1g.20gb: 1}}}]

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              tolerations: [{key: nvidia.com/gpu, operator: Exists}]
              containers: [{name: tune, image: "registry.example/tune:1.0", command: [python, tune.py],
                resources: {requests: {cpu: 8, memory: 64Gi},
                  limits: {cpu: 8, memory: 64Gi, nvidia.com/mig-1g.5gb: 1}}}]
    """
    asked = [resource for resource in work.asks if resource.startswith(_MIG)]
    if not asked or not work.types:
        return
    # Pods that name no pool of an open set may land on one that is elsewhere.
    if not world.plan.closed:
        pinned = any(label in work.selector for label in _PINS)
        if not pinned:
            return
    from trainyard.catalog.mig import profile_of, profiles_of  # few jobs ask for slices

    for resource in asked:
        name = resource.removeprefix(_MIG)
        # `+me` and the like are written with a dot (k8s-device-plugin v0.20.0, resource names).
        name = name.partition(".me")[0]
        if any(profile_of(instance, name) for instance in work.types):
            continue
        instance = work.types[0]
        known = [profile.name for profile in profiles_of(instance)]
        help = "ask for whole GPUs"
        if known:
            help = f"ask for one of {listed(known)}"
        device = instance.accelerator or "nodes"
        yield Finding(
            f"{work.title} asks for `{resource}`, and the {device} of `{instance.name}` have "
            "no such slices",
            work.place(resource),
            label="its pods stay Pending",
            help=help,
        )
        return
