from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import version_key
from trainyard.catalog.efa import PLUGIN_KNOWS_SINCE, Version, known_since
from trainyard.judge.model.values import texts_at, value_at
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World

_CHART = "aws-efa-k8s-device-plugin"


@rule("EFA051", pods=True, kubernetes="the device plugin is of Kubernetes")
def efa_plugin_older_than_type(work: Work, world: World) -> Iterator[Finding]:
    """The chart of EFA's device plugin is older than the instance type of a job.

    The plugin's pods run only on the types in the chart's `supportedInstanceLabels` (aws/eks-charts, values.yaml of
    each version): on a later one there is no plugin, no node offers `vpc.amazonaws.com/efa`, and the pods stay
    Pending. `supportedInstanceLabels.values` may name more types.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {template: {spec: {requirements: [
          {key: node.kubernetes.io/instance-type, operator: In, values: [p6-b200.48xlarge]}]}}}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: efa, namespace: flux-system}
        spec:
          chart: {spec: {chart: aws-efa-k8s-device-plugin, version: v0.4.4}}
          values: {tolerations: [{operator: Exists}]}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama, namespace: team-a}
        spec: {trainer: {numNodes: 2, resourcesPerNode: {requests: {vpc.amazonaws.com/efa: 8},
          limits: {vpc.amazonaws.com/efa: 8}}}}

    ## Passes

        # as the first that fails, but
        kind: HelmRelease
        spec: {chart: {spec: {version: v0.5.30}}}
    """
    if not work.efa or not work.types:
        return
    for release in world.releases(_CHART):
        version = _version(release.version)
        named = texts_at(value_at(release.values, "supportedInstanceLabels", "values"))
        if version is None:
            continue
        for instance in work.types:
            since = known_since(instance.name, PLUGIN_KNOWS_SINCE)
            if since is None or version >= since or instance.name in named:
                continue
            text = ".".join(map(str, since))
            yield Finding(
                f"`{_CHART}` {release.version} does not run on `{instance.name}` of {work.title}, as v{text} does",
                release.where("chart"),
                label="no node offers EFA",
                help="write version `v0.5.30`",
            )
            return


def _version(text: str) -> Version | None:
    """The number of a version; ``None`` for a range, which may be any."""
    bare = text.removeprefix("v")
    if not bare.replace(".", "").isdecimal():
        return None
    return tuple(version_key(bare))
