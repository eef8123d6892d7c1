from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.diagnostic import listed
from compiler.model.values import value
from compiler.plan import Plan
from compiler.platforms.eks.flux.plan import HelmRelease
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("HLT010", aliases=("two-owners",))
def component_installed_twice(plan: Plan, world: World) -> Iterator[Finding]:
    """Two releases install the same component.

    Two device plugins give the same device out twice, two JobSet controllers or DCGM hosts fight over one object or
    port; which one wins changes from start to start. One owner for each. Releases that select nodes may be
    for different ones.

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
        installers = {
            (release.namespace, release.name): release
            for chart, switch in owners.items()
            for release in world.releases(chart)
            if _is_on(release, switch)
        }
        if len(installers) > 1:
            names = listed((release.name for release in installers.values()), " and ")
            yield Finding(
                f"{names} both install {what}",
                list(installers.values())[-1].where("chart"),
                help="switch one of them off",
            )


def _is_on(release: HelmRelease, switch: tuple[str, ...]) -> bool:
    """Whether a release certainly installs the component, on all nodes: every chart does so by default."""
    if any(value(release.values, field) for field in ("nodeSelector", "affinity")):
        return False
    if switch:
        given = value(release.values, *switch)
    else:
        given = True
    return given is not False and not (given is None and "values" in release.unread)


# Chart -> the value that switches the component, on by default
# (gpu-operator v26.7.0, kubeflow-trainer 2.3.0 chart values).
_OWNERS: dict[str, dict[str, tuple[str, ...]]] = {
    "the NVIDIA device plugin": {
        "nvidia-device-plugin": (),
        "gpu-operator": ("devicePlugin", "enabled"),
    },
    "the EFA device plugin": {"aws-efa-k8s-device-plugin": ()},
    "a DCGM exporter": {"dcgm-exporter": (), "gpu-operator": ("dcgmExporter", "enabled")},
    "JobSet": {"jobset": (), "kubeflow-trainer": ("jobset", "install")},
    "Kueue": {"kueue": ()},
    "the node monitoring agent": {"eks-node-monitoring-agent": ()},
}
