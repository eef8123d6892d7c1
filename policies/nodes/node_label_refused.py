from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.core.cloud.plan import NodeGroupStack
from trainyard.core.launch.plan import BootScript, Launch
from trainyard.judge.model.values import indexed, mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, group_of
from trainyard.plan import Plan

_FREE = ("kubelet.kubernetes.io", "node.kubernetes.io")
"""Domains that the kubelet may set on its node, with those below them."""
_WELL_KNOWN = frozenset(
    {
        *("kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os"),
        *("topology.kubernetes.io/zone", "topology.kubernetes.io/region"),
        *("failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"),
        *("beta.kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type"),
        *("failure-domain.kubernetes.io/zone", "failure-domain.kubernetes.io/region"),
        "kubernetes.io/instance-type",
    }
)
_FLAG = re.compile(r"--node-labels[= ]\s*[\"']?([^\s\"',]+(?:,[^\s\"',]+)*)")


@rule("HLT078", alone=True)
def node_label_refused(plan: Plan, world: World) -> Iterator[Finding]:
    """Nodes are to have a label of Kubernetes' own that a node may not set on itself.

    The kubelet ends at its start with a label below `kubernetes.io` or `k8s.io` that is not one of a few ("unknown
    'kubernetes.io' or 'k8s.io' labels specified with --node-labels", Kubernetes 1.36, cmd/kubelet/app/options and
    NodeRestriction); `node-role.kubernetes.io/…` is among those. EKS and eksctl hand labels of a node group to the
    kubelet, and Karpenter refuses them in a NodePool. The node never joins.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: gpu, instanceType: p4d.24xlarge, nodeRepairConfig: {enabled: true},
             labels: {node-role.kubernetes.io/gpu: "true"}}

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {template: {metadata: {labels: {node-role.kubernetes.io/gpu: "true"}}}}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            apiVersion: node.eks.aws/v1alpha1
            kind: NodeConfig
            spec:
              kubelet:
                flags: ["--node-labels=node-role.kubernetes.io/gpu=true"]

        Resources:
          Gpu:
            Type: AWS::EKS::Nodegroup
            Properties:
              ClusterName: base
              NodeRole: arn:aws:iam::111122223333:role/nodes
              Subnets: [subnet-0a1b2c3d4e5f60718]
              Labels: {node-role.kubernetes.io/gpu: "true"}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: gpu, instanceType: p4d.24xlarge, nodeRepairConfig: {enabled: true},
             labels: {example.com/role: gpu, node.kubernetes.io/purpose: training}}
    """
    for manifest in world.manifests:
        for labels, at, whose in _labels(manifest):
            for key in labels:
                if _refused(str(key)):
                    yield _finding(str(key), at / key, whose, key=True)
    for group in plan.of(NodeGroupStack):
        for key in group.labels:
            if _refused(key):
                at = group.where("labels") / key
                yield _finding(key, at, f"node group `{group.logical}`", key=True)
    for launch in world.launches:
        for script in launch.scripts:
            yield from _in_script(script, launch)


def _in_script(script: BootScript, launch: Launch) -> Iterator[Finding]:
    """The labels that a script hands to the kubelet."""
    for offset, line in script.commands():
        for given in _FLAG.findall(line):
            for pair in given.split(","):
                key = pair.partition("=")[0]
                if _refused(key):
                    yield _finding(key, script.line_at(offset), launch.words, key=False)


def _finding(name: str, at: Route, whose: str, *, key: bool) -> Finding:
    return Finding(
        f"{whose} has the label `{name}`, which a node may not set on itself",
        at,
        key=key,
        label="the kubelet does not start with it",
        help=f"take a prefix of your own, like `example.com/{name.rpartition('/')[2]}`",
    )


def _labels(manifest: Manifest) -> Iterator[tuple[Mapping[str, Any], Route, str]]:
    group, kind = group_of(manifest.ref.api_version), manifest.ref.kind
    at = Route((manifest.id,))
    name = manifest.ref.name
    if (group, kind) == ("karpenter.sh", "NodePool"):
        path = ("spec", "template", "metadata", "labels")
        yield mapping(manifest.body, *path), at / path, f"pool `{name}`"
        return
    if (group, kind) != ("eksctl.io", "ClusterConfig"):
        return
    for groups in ("managedNodeGroups", "nodeGroups"):
        for index, body in indexed(manifest.body, groups):
            whose = f"node group `{body.get('name', '')}`"
            yield mapping(body, "labels"), at / groups / index / "labels", whose


def _refused(key: str) -> bool:
    domain, slash, _ = key.rpartition("/")
    if not slash or key in _WELL_KNOWN:
        return False
    own = any(domain == each or domain.endswith(f".{each}") for each in ("kubernetes.io", "k8s.io"))
    free = any(domain == each or domain.endswith(f".{each}") for each in _FREE)
    return own and not free
