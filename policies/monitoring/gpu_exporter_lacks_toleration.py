from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import tolerations
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Plan
from trainyard.plan.scheduling import Toleration


@rule("HLT062")
def gpu_exporter_lacks_toleration(plan: Plan, world: World) -> Iterator[Finding]:
    """The exporter of GPUs does not tolerate the taint of a GPU pool.

    Its chart tolerates the taint of the control plane alone (dcgm-exporter 4.8.2, values.yaml): on a tainted node there
    is no exporter, its GPUs have no series, and no alert over them fires.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dcgm-exporter, namespace: flux-system}
        spec: {chart: {spec: {chart: dcgm-exporter, version: 4.8.2}}}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dcgm-exporter, namespace: flux-system}
        spec:
          chart: {spec: {chart: dcgm-exporter, version: 4.8.2}}
          values: {tolerations: [{operator: Exists}]}
    """
    for release in world.releases("dcgm-exporter"):
        reach = tolerations(release, "tolerations", default=_CHART)
        for pool, taint in world.kept_off(reach):
            if any(instance.gpus for instance in world.types(pool)):
                yield Finding(
                    f"release `{release.name}` does not tolerate `{taint}` of pool `{pool.title}`",
                    release.where("values"),
                    label="it never runs there",
                    help="add the taint to `tolerations`",
                )
                break


_CHART = (Toleration("node-role.kubernetes.io/control-plane", "Exists", "", "NoSchedule"),)
