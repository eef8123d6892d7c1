from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.judge.model.sharing import configuration_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("LIM056", pods=True, kubernetes="the device plugin is of Kubernetes")
def gang_on_shared_gpus(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for whole GPUs on nodes whose device plugin gives each of them out several times.

    With time-slicing or MPS `nvidia.com/gpu` counts shares: eight of them may be of two GPUs, and NCCL ends with
    "Duplicate GPU detected". With `failRequestsGreaterThanOne` a pod that asks for more than one is refused by the
    kubelet (UnexpectedAdmissionError), and with `renameByDefault` nodes offer `nvidia.com/gpu.shared` instead
    (NVIDIA/k8s-device-plugin v0.20.0, README: shared access; its issues 321 and 491). A pool of its own, or the label
    `nvidia.com/device-plugin.config` with another configuration, keeps training apart.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec:
          chart: {spec: {chart: nvidia-device-plugin, version: 0.18.2}}
          values: {config: {default: shared, map: {shared: "{version: v1, sharing: {timeSlicing: {
            resources: [{name: nvidia.com/gpu, replicas: 4}]}}}"}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec:
          chart: {spec: {chart: nvidia-device-plugin, version: 0.18.2}}
          values: {config: {map: {a: "{version: v1, sharing: {timeSlicing: {renameByDefault: true,
            resources: [{name: nvidia.com/gpu, replicas: 4}]}}}"}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: gpu-operator, namespace: flux-system}
        spec:
          chart: {spec: {chart: gpu-operator, version: v26.7.0}}
          values: {devicePlugin: {config: {name: slices, default: any}}}
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: slices, namespace: gpu-operator}
        data:
          any: |
            version: v1
            sharing:
              mps:
                resources:
                - {name: nvidia.com/gpu, replicas: 2}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec:
          chart: {spec: {chart: nvidia-device-plugin, version: 0.18.2}}
          values: {config: {default: whole, map: {whole: "version: v1", shared: "{version: v1, sharing: {timeSlicing: {
            resources: [{name: nvidia.com/gpu, replicas: 4}]}}}"}}}
    """
    asked = work.asks.get(GPU)
    if asked is None or not asked.value:
        return
    for pool in work.pools:
        configuration = configuration_of(pool, world)
        sharing = configuration.sharing if configuration is not None else {}
        if configuration is None or not sharing:
            continue
        replicas = configuration.replicas(sharing)
        if sharing.get("renameByDefault") is True:
            yield Finding(
                f"{work.title} asks for `{GPU}`, and nodes of pool `{pool.title}` offer `{GPU}.shared` instead",
                configuration.line("renameByDefault"),
                label="its pods stay Pending",
                help=f"write `renameByDefault: false`, or let a small job ask for one `{GPU}.shared`",
            )
            return
        if asked.value <= 1 and not work.gang:
            continue
        if sharing.get("failRequestsGreaterThanOne") is True and asked.value > 1:
            yield Finding(
                f"{work.title} asks for {asked.value} of `{GPU}`, "
                f"and the device plugin of pool `{pool.title}` refuses more than one",
                configuration.line("failRequestsGreaterThanOne"),
                label="its pods end with UnexpectedAdmissionError",
                help="do not share the GPUs of this pool: give it a configuration of its own by the label "
                "`nvidia.com/device-plugin.config`",
            )
            return
        yield Finding(
            f"{work.title} has several ranks, and each GPU of pool `{pool.title}` is given out {replicas} times",
            configuration.line("replicas"),
            label="ranks get shares of one GPU",
            help="do not share the GPUs of this pool: give it a configuration of its own by the label "
            "`nvidia.com/device-plugin.config`",
        )
        return
