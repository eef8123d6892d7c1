from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.core.pools.plan import Pool
from trainyard.eks.health.plan import ProblemDetector
from trainyard.judge.model.values import tolerations, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Plan
from trainyard.plan.scheduling import Toleration


@rule("HLT009", aliases=("agent-untolerating",))
def node_agent_lacks_toleration(plan: Plan, world: World) -> Iterator[Finding]:
    """An agent that a pool's nodes need does not tolerate their taints.

    A DaemonSet lands on a tainted node only with the toleration (Kubernetes, taints and tolerations): without the
    device plugin the node offers no GPUs, without the node-problem-detector nobody watches it. The NVIDIA chart
    tolerates `nvidia.com/gpu` by default (nvidia-device-plugin 0.20.0).

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec:
          chart: {spec: {chart: nvidia-device-plugin, version: 0.20.0}}
          values: {tolerations: [{key: team, operator: Exists}]}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec:
          chart: {spec: {chart: nvidia-device-plugin, version: 0.20.0}}
          values: {tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]}
    """
    agents = [
        (
            f"release `{release.name}`",
            tolerations(release, "tolerations", default=_CHART),
            release.where("values"),
            value_at(release.values, "nodeSelector"),
        )
        for release in world.releases("nvidia-device-plugin")
    ]
    agents += [
        (
            f"problem detector `{detector.name}`",
            detector.tolerations,
            detector.where("tolerations"),
            dict(detector.node_selector),
        )
        for detector in plan.of(ProblemDetector)
    ]
    for name, reach, at, selector in agents:
        for pool, taint in world.kept_off(reach):
            if _has_gpus(pool, world) and world.may_match(pool, selector or {}):
                yield Finding(
                    f"{name} does not tolerate `{taint}` of pool `{pool.title}`",
                    at,
                    label="it never runs there",
                    help="add the toleration",
                )
                break


def _has_gpus(pool: Pool, world: World) -> bool:
    return any(instance.gpus for instance in world.types(pool))


_CHART = (Toleration(GPU, "Exists", "", "NoSchedule"), Toleration("CriticalAddonsOnly", "Exists"))
