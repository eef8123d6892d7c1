from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import ControlPlane
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

# No owner has a larger block of addresses (IANA IPv4 address space registry).
_WIDEST = 8


@rule("ACC001", severity=Severity.WARNING)
def api_server_open(cluster: ControlPlane) -> Iterator[Finding]:
    """The whole internet reaches the Kubernetes API of a cluster.

    Without `publicAccessCIDRs`, EKS lets every address connect to a public endpoint (EKS user guide, cluster-endpoint).
    Somebody with a stolen credential, or an exploit of the API server, then needs no access to your network. A file of
    eksctl that says nothing of its endpoints is not judged: eksctl creates a public one (0.230.0), which may be closed
    by now. CloudFormation and Terraform keep the public one that they make without a word.

    ## Fails

        platform: {eks: {apiServer: {public: [0.0.0.0/0]}}}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        vpc: {clusterEndpoints: {publicAccess: true, privateAccess: true}}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        vpc: {publicAccessCIDRs: [0.0.0.0/0], clusterEndpoints: {publicAccess: true, privateAccess: true}}

        Resources:
          Lab:
            Type: AWS::EKS::Cluster
            Properties:
              RoleArn: "arn:aws:iam::111122223333:role/eks"
              ResourcesVpcConfig: {SubnetIds: [subnet-0a1b2c3d]}

    ## Passes

        Resources:
          Lab:
            Type: AWS::EKS::Cluster
            Properties:
              RoleArn: "arn:aws:iam::111122223333:role/eks"
              ResourcesVpcConfig:
                {SubnetIds: [subnet-0a1b2c3d], EndpointPublicAccess: false, EndpointPrivateAccess: true}

        platform: {eks: {apiServer: {public: [203.0.113.0/24]}}}

        platform: {eks: {apiServer: private}}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        vpc: {publicAccessCIDRs: [203.0.113.0/24], clusterEndpoints: {publicAccess: true, privateAccess: true}}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        vpc: {clusterEndpoints: {publicAccess: false, privateAccess: true}}
    """
    if cluster.public is False:
        return
    help = "name the blocks of your own addresses, or make the endpoint private"
    is_known = cluster.unread.isdisjoint(("public", "public_cidrs"))
    if is_known and cluster.public and not cluster.public_cidrs:
        yield Finding(
            f"every address reaches the Kubernetes API of cluster `{cluster.name}`",
            cluster.where("public"),
            help=help,
        )
    for index, block in enumerate(cluster.public_cidrs):
        length = block.rpartition("/")[2]
        if length.isdecimal() and int(length) < _WIDEST:
            yield Finding(
                f"block `{block}` reaches the Kubernetes API of cluster `{cluster.name}`",
                cluster.where("public_cidrs") / index,
                label="far more than one network",
                help=help,
                spec_help="write the blocks of your own addresses under `public`, or `apiServer: private`",
            )
