from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.model.values import mapping
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import Manifest

_AUTOSCALER = "cluster-autoscaler"
_KINDS = ("HelmRelease", "Deployment", "Application", "ClusterConfig")


@rule("LIM034", severity=Severity.WARNING)
def node_group_never_scaled(group: NodeGroup, world: World) -> Iterator[Finding]:
    """Jobs need a node group that has no nodes, and nothing in the set gives it any.

    EKS keeps a node group at its desired size; the Cluster Autoscaler changes that, and Karpenter does not (EKS user
    guide, autoscaling): at 0 the jobs stay Pending. Nothing is reported of a group without jobs in the set, where a
    cluster autoscaler is in it, or where the group's nodes may find one (`withAddonPolicies: {autoScaler: true}`).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: small, labels: {size: small}, instanceType: g6.2xlarge,
          minSize: 0, desiredCapacity: 0, maxSize: 4,
          nodeRepairConfig: {enabled: true}}]
        ---
        apiVersion: batch/v1
        kind: Job
        metadata: {name: bert, namespace: team-b}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {size: small},
          containers: [{name: train, image: "public.ecr.aws/team/train:1.0", command: [python, train.py],
            resources: {requests: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1},
              limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}}]}}}

    ## Passes

        # as the first that fails, but
        kind: ClusterConfig
        managedNodeGroups: [{name: small, minSize: 1, desiredCapacity: 1}]
    """
    if group.desired != 0 or group.capacity_block:
        return
    needing = (work for work in _all(world) if _needs(work, group))
    waiting = next(needing, None)
    if waiting is None or any(map(_scales, world.manifests)):
        return
    yield Finding(
        f"node group `{group.title}` has no nodes, and {waiting.title} needs one",
        group.where("desired"),
        label="nothing in the set scales it",
        help="write the nodes that the jobs need, or install the cluster autoscaler",
    )


def _all(world: World) -> tuple[Work, ...]:
    return (*world.works, *world.pods)


def _needs(work: Work, group: NodeGroup) -> bool:
    """Whether a job can land on this group alone."""
    if len(work.pools) != 1:
        return False
    return work.pools[0].at == group.at


def _scales(manifest: Manifest) -> bool:
    """Whether an object is, installs or has the rights of a cluster autoscaler."""
    kind = manifest.ref.kind
    if kind not in _KINDS:
        return False
    if kind == "ClusterConfig":
        return "'autoScaler': True" in str(manifest.body) or _AUTOSCALER in str(manifest.body)
    spec = mapping(manifest.body, "spec")
    installed = [spec.get(field) for field in ("chart", "source", "sources")]
    return _AUTOSCALER in f"{manifest.ref.name} {installed}"
