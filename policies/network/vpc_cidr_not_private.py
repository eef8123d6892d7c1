from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.eks.cluster.plan import Cluster
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

# RFC 1918, RFC 6598 and RFC 2544: what belongs to nobody on the internet.
_PRIVATE = tuple(
    map(
        IPv4Network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15"),
    )
)
_OF_SERVICES = IPv4Network("172.17.0.0/16")


@rule("ACC004", aliases=("vpc-of-public-addresses",), severity=Severity.WARNING)
def vpc_cidr_not_private(cluster: Cluster) -> Iterator[Finding]:
    """The CIDR of a new VPC has public addresses, or overlaps a range that AWS services use.

    EC2 takes any block of /16 to /28, and recommends those of RFC 1918. With others, the hosts of the internet that
    have these addresses are out of reach from inside, such as a registry or a mirror. `172.17.0.0/16` is
    used by services such as Cloud9 and SageMaker AI, and by Docker's bridge (VPC user guide, VPC CIDR blocks).

    ## Fails

        network: {create: {cidr: 52.94.0.0/16}}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        vpc: {cidr: 172.17.0.0/16, publicAccessCIDRs: [203.0.113.0/24],
          clusterEndpoints: {publicAccess: true, privateAccess: true}}

    ## Passes

        network: {create: {cidr: 10.42.0.0/16}}

        network: {create: {cidr: 100.64.0.0/16}}
    """
    network = cluster.network
    try:
        block = IPv4Network(network.cidr or "")
    except ValueError:
        return
    at, help = network.at / "cidr", "take a private block, like `10.0.0.0/16`"
    if block.overlaps(_OF_SERVICES):
        yield Finding(
            f"block `{block}` of the VPC has addresses that services of AWS and Docker use",
            at,
            label="they overlap `172.17.0.0/16`",
            help=help,
        )
    elif not any(block.subnet_of(private) for private in _PRIVATE):
        yield Finding(
            f"block `{block}` of the VPC has public addresses, which belong to others",
            at,
            label="their hosts are out of reach from inside",
            help=help,
        )
