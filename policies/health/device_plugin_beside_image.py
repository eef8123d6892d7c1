from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.images.plan import short_name
from trainyard.core.pods.plan import GPU
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.plan import Plan

_CHART, _OPERATOR = "nvidia-device-plugin", "gpu-operator"
_IMAGE = "k8s-device-plugin"
_BOTTLEROCKET = "bottlerocket"


@rule("HLT081", severity=Severity.WARNING)
def device_plugin_beside_image(plan: Plan, world: World) -> Iterator[Finding]:
    """NVIDIA's device plugin is installed on nodes whose image has one.

    Bottlerocket's NVIDIA variants run the plugin as a service of the host, and EKS Auto Mode's nodes, which boot
    Bottlerocket, do the same (bottlerocket-os/bottlerocket#4309; EKS user guide, ml-eks-optimized-ami). A second one
    registers `nvidia.com/gpu` again, and which of them the kubelet asks changes from start to start. One that selects
    other nodes by labels is left alone.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {amiSelectorTerms: [{alias: bottlerocket@v1.53.0}]}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec: {chart: {spec: {chart: nvidia-device-plugin, version: 0.18.2}}}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {amiSelectorTerms: [{alias: bottlerocket@v1.53.0}]}
        ---
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: nvidia-device-plugin-daemonset, namespace: kube-system}
        spec: {template: {spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}], containers: [
          {name: plugin, image: "nvcr.io/nvidia/k8s-device-plugin:v0.18.2"}]}}}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvdp, namespace: flux-system}
        spec: {chart: {spec: {chart: nvidia-device-plugin, version: 0.18.2}}}
    """
    having = [pool for pool in world.pools if _has_its_own(pool, world)]
    if not having:
        return
    for name, at, selector in _installers(world):
        pools = [pool for pool in having if world.may_match(pool, selector)]
        if pools:
            yield Finding(
                f"{name} installs NVIDIA's device plugin, and Bottlerocket of pool `{pools[0].title}` has its own",
                at,
                label="two plugins give out the same GPUs",
                help="remove it; settings of the one on Bottlerocket are in `settings.kubelet-device-plugins.nvidia`",
            )
            return


def _has_its_own(pool: Pool, world: Reading) -> bool:
    """Whether nodes of a pool have GPUs and Bottlerocket."""
    is_fixed = isinstance(pool, FixedPool) and pool.ami_family == "Bottlerocket"
    family = world.ami_family(pool)
    if not is_fixed and (family is None or family.alias != _BOTTLEROCKET):
        return False
    return any(instance.accelerator_resource == GPU for instance in world.types(pool))


def _installers(world: Reading) -> Iterator[tuple[str, Route, dict[str, str]]]:
    for release in world.releases(_CHART, _OPERATOR):
        if not _is_off(release):
            selector = value_at(release.values, "nodeSelector")
            chosen = selector if isinstance(selector, dict) else {}
            labels = {str(key): str(text) for key, text in chosen.items()}
            if not value_at(release.values, "affinity"):
                yield f"release `{release.name}`", release.where("chart"), labels
    for workload in world.plan.of(Workload):
        for part in workload.pods if workload.everywhere else ():
            images = [short_name(each.image or "") for each in part.pod.containers]
            if _IMAGE in images and "node_affinity" not in part.pod.unread:
                yield f"the DaemonSet `{workload.name}`", workload.at, dict(part.pod.node_selector)


def _is_off(release: HelmRelease) -> bool:
    """Whether a release certainly does not install the plugin, or nobody knows its values."""
    return value_at(release.values, "devicePlugin", "enabled") is False
