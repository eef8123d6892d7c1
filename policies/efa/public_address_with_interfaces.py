from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.model.worded import spelled
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("EFA046")
def public_address_with_interfaces(launch: Launch, world: World) -> Iterator[Finding]:
    """Nodes with several network interfaces are to get a public address, which EC2 gives to one that is alone.

    Karpenter launches nodes for pods that ask for EFA with all EFA interfaces of the type; an instance with more than
    one interface cannot have a public address assigned at its launch, and EC2 refuses it (EC2 user guide,
    using-instance-addressing; aws/karpenter-provider-aws#5666). So does a launch template with several interfaces.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {associatePublicIPAddress: true}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {associatePublicIPAddress: false}
    """
    if launch.public is not True:
        return
    if max(len(launch.interfaces), _most_of_jobs(launch, world)) > 1:
        field = "associatePublicIPAddress"
        if isinstance(launch, LaunchTemplate):
            field = spelled(launch, "AssociatePublicIpAddress")
        yield Finding(
            f"{launch.words} asks for a public address, and nodes for EFA have several interfaces",
            launch.where("public"),
            label="EC2 refuses the launch",
            help=f"remove `{field}`, or set it to false",
        )


def _most_of_jobs(launch: Launch, world: World) -> int:
    """The most network interfaces that nodes of a class get, since pods on them ask for EFA."""
    if not isinstance(launch, NodeClass):
        return 0
    pools = world.pools_of_class(launch)
    counts = [
        instance.efa_interfaces
        for work in (*world.works, *world.pods)
        if work.efa
        for pool, instance in work.offers
        if pool in pools
    ]
    return max(counts, default=0)
