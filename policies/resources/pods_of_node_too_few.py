from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule("LIM057", kinds=("karpenter.k8s.aws/EC2NodeClass",))
def pods_of_node_too_few(manifest: Manifest, world: World) -> Iterator[Finding]:
    """Nodes may have fewer pods than their agents and one of a job are.

    Every pod counts against the kubelet's `maxPods`, those of DaemonSets as well. The VPC CNI's agent, or another
    CNI's, runs on each node, and on nodes with accelerators their device plugin, unless the image has it, as
    Bottlerocket's does. With no room for one more, Karpenter launches no node ("no instance type which had enough
    resources", aws/karpenter-provider-aws issue 6884).

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {kubelet: {maxPods: 2}}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {kubelet: {maxPods: 110}}
    """
    most = value_at(manifest.body, "spec", "kubelet", "maxPods")
    if not isinstance(most, int):
        return
    needed = (
        2
        if "bottlerocket" in str(value_at(manifest.body, "spec", "amiSelectorTerms")).lower()
        else 3
    )
    pools = [pool for pool in world.plan.of(NodePool) if pool.node_class == manifest.ref.name]
    types = [each for pool in pools for each in world.types(pool)]
    if not types or not all(each.accelerators for each in types):
        needed = 2
    if most < needed:
        yield Finding(
            f"nodes of class `{manifest.ref.name}` may have {most} pods, and their agents are {needed - 1}",
            Route((manifest.id, "spec", "kubelet", "maxPods")),
            label="no pod of a job has room",
            help="remove it, or write 110",
        )
