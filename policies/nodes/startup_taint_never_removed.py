from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import indexed
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, placeholder

_AGENTS: Mapping[str, tuple[str, ...]] = {
    "node.cilium.io/agent-not-ready": ("cilium",),
    "ebs.csi.aws.com/agent-not-ready": ("ebs-csi",),
    "efs.csi.aws.com/agent-not-ready": ("efs-csi",),
    "fsx.csi.aws.com/agent-not-ready": ("fsx-csi",),
    "s3.csi.aws.com/agent-not-ready": ("mountpoint-s3-csi", "s3-csi"),
    "ovn.kubernetes.io/agent-not-ready": ("kube-ovn",),
    "projectcalico.org/not-ready": ("calico", "tigera"),
    "nidhogg.uswitch.com": ("nidhogg",),
}
"""By the taint or its prefix, a word in the name or image of what removes it: the agents' own documentation."""
_POOLS = ("NodePool", "EC2NodeClass", "NodeClass", "ResourceFlavor")


@rule(
    "HLT083", severity=Severity.WARNING, kinds=("karpenter.sh/NodePool", "eksctl.io/ClusterConfig")
)
def startup_taint_never_removed(manifest: Manifest, world: World) -> Iterator[Finding]:
    """New nodes have a startup taint, and nothing in the set takes it off.

    Karpenter waits until each `startupTaints` is gone and counts the node as not initialized until then (karpenter
    v1.14, NodePool startupTaints): somebody else must remove it, as Cilium's agent and the CSI drivers do with theirs.
    Where nothing does, no pod is ever placed there, and the node is paid for. A node group that has such a taint
    among its `taints` waits in the same way.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {template: {spec: {startupTaints: [
          {key: node.cilium.io/agent-not-ready, value: "true", effect: NoExecute}]}}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {template: {spec: {startupTaints: [
          {key: node.cilium.io/agent-not-ready, value: "true", effect: NoExecute}]}}}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: cilium, namespace: flux-system}
        spec: {chart: {spec: {chart: cilium, version: 1.19.0}}}
    """
    at = Route((manifest.id,))
    if manifest.ref.kind == "NodePool":
        path = ("spec", "template", "spec", "startupTaints")
        for index, taint in indexed(manifest.body, *path):
            yield from _judged(taint, at / path / index, f"pool `{manifest.ref.name}`", world)
        return
    for groups in ("managedNodeGroups", "nodeGroups"):
        for number, group in indexed(manifest.body, groups):
            for index, taint in indexed(group, "taints"):
                if _words(str(taint.get("key", ""))):
                    place = at / groups / number / "taints" / index
                    yield from _judged(taint, place, f"node group `{group.get('name')}`", world)


def _judged(taint: Mapping[str, Any], at: Route, whose: str, world: World) -> Iterator[Finding]:
    key = str(taint.get("key", ""))
    if not key or placeholder(key) or world.plan.closed:
        return
    words = _words(key)
    if not words:
        return  # of somebody's own, who may remove it from anywhere
    texts = world.once(_texts)
    if any(key in text or any(word in text for word in words) for text in texts):
        return
    yield Finding(
        f"nothing in the set removes the startup taint `{key}` of {whose}",
        at,
        label="no pod is ever placed on its nodes",
        help=f"install what removes it ({words[0]}), or remove the taint",
    )


def _words(key: str) -> tuple[str, ...]:
    return next((words for known, words in _AGENTS.items() if key.startswith(known)), ())


def _texts(world: Reading) -> tuple[str, ...]:
    """The objects that may remove a taint, as text without what they tolerate."""
    return tuple(
        json.dumps(_without(manifest.body), default=str)
        for manifest in world.manifests
        if manifest.ref.kind not in _POOLS
    )


def _without(body: Any) -> Any:
    if isinstance(body, Mapping):
        skipped = ("tolerations", "taints")
        return {str(key): _without(inner) for key, inner in body.items() if key not in skipped}
    if isinstance(body, list):
        return [_without(inner) for inner in body]
    return body
