from __future__ import annotations

from collections.abc import Iterator

from compiler.plan import Plan
from compiler.plan.delivery import HelmRelease
from compiler.policy.rule import Finding, rule
from compiler.policy.values import value
from compiler.policy.world import World


@rule("HLT010")
def two_owners(plan: Plan, world: World) -> Iterator[Finding]:
    """Two releases install the same thing.

    Two device plugins give the same device out twice, two JobSet controllers or DCGM hosts fight over one object or
    port; which one wins changes from start to start. One owner for each.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: jobset, namespace: flux-system}
        spec: {chart: {spec: {chart: jobset, version: 0.12.0}}}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: trainer, namespace: flux-system}
        spec: {chart: {spec: {chart: kubeflow-trainer, version: 2.3.0}}}

    ## Passes

        jobs: [{name: llama}]
    """
    for what, owners in _OWNERS.items():
        found = [each for chart, (path, default) in owners.items() for each in world.releases(chart)
                 if not path or _on(each, path, default)]
        if len(found) > 1:
            names = " and ".join(f"`{each.name}`" for each in found)
            yield Finding(f"{names} both install {what}", found[-1].where("chart"), help="switch one of them off")


def _on(release: HelmRelease, path: tuple[str, ...], default: bool) -> bool:
    given = value(release.values, *path)
    return default if given is None else bool(given)


# Chart -> the value that switches the thing, and its default (gpu-operator v26.3, kubeflow-trainer 2.3.0 chart values).
_OWNERS: dict[str, dict[str, tuple[tuple[str, ...], bool]]] = {
    "the NVIDIA device plugin": {
        "nvidia-device-plugin": ((), True), "gpu-operator": (("devicePlugin", "enabled"), True)},
    "the EFA device plugin": {"aws-efa-k8s-device-plugin": ((), True)},
    "a DCGM exporter": {"dcgm-exporter": ((), True), "gpu-operator": (("dcgmExporter", "enabled"), True)},
    "JobSet": {"jobset": ((), True), "kubeflow-trainer": (("jobset", "install"), True)},
    "Kueue": {"kueue": ((), True)},
    "the node monitoring agent": {"eks-node-monitoring-agent": ((), True)},
}
