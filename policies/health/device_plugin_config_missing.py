from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.manifest import placeholder

_LABEL = "nvidia.com/device-plugin.config"


@rule("HLT043")
def device_plugin_config_missing(pool: NodePool, world: World) -> Iterator[Finding]:
    """The nodes of a pool name a configuration of NVIDIA's device plugin that its release does not have.

    The plugin's config-manager takes the configuration that the label `nvidia.com/device-plugin.config` names out of
    the chart's `config.map`; for another name it fails, and the node offers no GPU (NVIDIA/k8s-device-plugin v0.20.0).
    A release without `config` has no config-manager, and the label no effect. Nothing is reported where `config.name`
    names a ConfigMap of somebody else's.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {template: {metadata: {labels: {nvidia.com/device-plugin.config: time-slicing-8}}}}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvidia-device-plugin, namespace: flux-system}
        spec:
          chart: {spec: {chart: nvidia-device-plugin, version: 0.20.0}}
          values:
            mofedEnabled: false
            tolerations: [{operator: Exists}]
            config: {map: {time-slicing-4: "version: v1"}}

    ## Passes

        nodePools: [{name: gpu, gpuSharing: {timeSlicing: {replicas: 4}}}]
        jobs: [{name: llama, nodes: 1}]
    """
    name = pool.labels.get(_LABEL)
    if name is None or placeholder(name):
        return
    for release in world.releases("nvidia-device-plugin"):
        if value_at(release.values, "config", "name"):
            return
        configs = value_at(release.values, "config", "map")
        if isinstance(configs, dict):
            known = list(configs)
        else:
            known = []
        if name in known:
            return
        if known:
            has = f"has {listed(known)}"
        else:
            has = "has none"
        yield Finding(
            f"pool `{pool.title}` has the label `{_LABEL}: {name}`, and release `{release.name}` {has}",
            pool.where("labels"),
            label="its nodes offer their GPUs otherwise, or not at all",
            help=f"add `{name}` to `config.map` of the release, or remove the label",
        )
        return
