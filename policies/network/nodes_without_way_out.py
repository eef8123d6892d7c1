from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.judge.model.values import indexed, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule("PLC119", kinds=("eksctl.io/ClusterConfig",))
def nodes_without_way_out(manifest: Manifest) -> Iterator[Finding]:
    """Nodes are in private subnets, and these have neither NAT nor endpoints.

    With `vpc.nat.gateway: Disable` the private subnets that eksctl makes have no route out; without `privateCluster`
    it makes no endpoints there either (eksctl v0.230.0, vpc and privateCluster). The nodes reach neither the API of
    EKS nor ECR and S3, and never join. Nothing is said of subnets that somebody else made.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        vpc: {nat: {gateway: Disable}}
        managedNodeGroups:
          - {name: gpu, instanceType: p4d.24xlarge, privateNetworking: true, nodeRepairConfig: {enabled: true}}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        vpc: {nat: {gateway: Single}}
        managedNodeGroups:
          - {name: gpu, instanceType: p4d.24xlarge, privateNetworking: true, nodeRepairConfig: {enabled: true}}
    """
    body = manifest.body
    gateway = value_at(body, "vpc", "nat", "gateway")
    if not isinstance(gateway, str) or gateway.lower() != "disable":
        return
    made_elsewhere = value_at(body, "vpc", "id") or value_at(body, "vpc", "subnets")
    if made_elsewhere or value_at(body, "privateCluster", "enabled") is True:
        return
    private = next(_private(body), None)
    if private is None:
        return
    yield Finding(
        f"{private} is in private subnets, which have no NAT and no endpoints",
        Route((manifest.id, "vpc", "nat", "gateway")),
        label="its nodes reach neither the API of EKS nor ECR",
        help="write `gateway: Single`, or `privateCluster: {enabled: true}` for endpoints",
    )


def _private(body: Mapping[str, Any]) -> Iterator[str]:
    for groups in ("managedNodeGroups", "nodeGroups"):
        for _, group in indexed(body, groups):
            if group.get("privateNetworking") is True:
                yield f"node group `{group.get('name', '')}`"
    if value_at(body, "autoModeConfig", "enabled") is True:
        yield "a node of EKS Auto Mode"
    for _, profile in indexed(body, "fargateProfiles"):
        yield f"Fargate profile `{profile.get('name', '')}`"
