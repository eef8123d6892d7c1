from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import tolerations, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan.scheduling import Toleration, untolerated


@rule("HLT019", aliases=("taint-of-other-value",))
def gpu_feature_discovery_lacks_toleration(release: HelmRelease, world: World) -> Iterator[Finding]:
    """GPU feature discovery does not tolerate the value of the GPU taint.

    The discovery worker of the NVIDIA chart tolerates just `nvidia.com/gpu=present` (nvidia-device-plugin 0.20.0,
    `nfd` values): with another value the node is never labelled, and the plugin, which waits for the label, never
    runs.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec: {chart: {spec: {chart: nvidia-device-plugin, version: 0.20.0}}, values: {gfd: {enabled: true}}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {template: {spec: {taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]}}}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec: {chart: {spec: {chart: nvidia-device-plugin, version: 0.20.0}}, values: {gfd: {enabled: true}}}
    """
    enabled = value_at(release.values, "gfd", "enabled")
    if release.chart != "nvidia-device-plugin" or not enabled:
        return
    own = (Toleration(GPU, "Equal", "present", "NoSchedule"),)
    reach = tolerations(release, "nfd", "worker", "tolerations", default=own)
    for pool in world.pools if reach is not None else ():
        taints = tuple(taint for taint in pool.taints if taint.key == GPU)
        for taint in untolerated(taints, reach or ()):
            yield Finding(
                f"feature discovery does not tolerate `{taint}` of pool `{pool.title}`",
                pool.where("taints"),
                label="the device plugin never runs there",
                help=f"write `{GPU}=present:{taint.effect}`",
            )
