"""What HyperPod does not do of the language, and what to write instead: by key, and below lists by dots."""

from __future__ import annotations

from collections.abc import Mapping

_PLANS = (
    "write the ARN of a SageMaker training plan in `trainingPlans` of the platform: HyperPod takes "
    "no reservation of EC2"
)

INSTEAD: Mapping[str, str] = {
    # whole keys of `spec`
    "health": (
        "remove it: HyperPod's agent watches the nodes, and `nodeRecovery` of the platform says "
        "whether they are replaced"
    ),
    # the cluster
    "platform.eks.autoMode": "remove it: HyperPod launches the nodes of pools",
    "platform.eks.ami": "remove it: HyperPod has images of its own",
    # the network
    "network.create": (
        "write `existing:` with the subnets of a VPC, since the request names subnets by their ids"
    ),
    "network.cilium": "remove it: the CNI plugin of the VPC is the only one that HyperPod supports",
    # pools
    "nodePools.capacity.reserved": _PLANS,
    "nodePools.capacity.block": _PLANS,
    "nodePools.burnIn": "write `deepHealthChecks` of the platform, by which HyperPod tests nodes",
    "nodePools.gpuSharing": "remove it: the images of HyperPod give whole GPUs to pods",
    "nodePools.managedNodeGroup": "remove it: the pool is an instance group of HyperPod",
    "nodePools.placement": "remove it: HyperPod places instances itself",
    "nodePools.localStorage": "remove it: the image of HyperPod says what NVMe disks are for",
    "nodePools.rootVolume.iops": "remove it: HyperPod takes the size of the volume alone",
    "nodePools.rootVolume.throughput": "remove it: HyperPod takes the size of the volume alone",
    "nodePools.consolidateAfter": "remove it: the nodes of an instance group are always on",
}

_NO_KUEUE = "remove it: the add-on for task governance configures Kueue itself"
INSTEAD_GOVERNED: Mapping[str, str] = {
    "kueue": _NO_KUEUE,
    "cohorts": "remove it: all teams that lend share with each other, and `cohort` of a queue says whether it does",
    "queues.queueingStrategy": _NO_KUEUE,
    "queues.flavorFungibility": _NO_KUEUE,
    "queues.stopPolicy": "remove it, and the quota instead: `nodes: 0` admits no job",
    "queues.preemption.reclaimWithinCohort": "remove it: a team always takes back what it has lent",
    "queues.preemption.borrowWithinCohort": "remove it: a team that borrows stops no job of another one",
}
"""What is no part of it with ``taskGovernance``, besides."""
