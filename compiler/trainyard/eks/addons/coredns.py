"""CoreDNS, which resolves the names of ranks."""

from trainyard.eks.addons.addon import EKS, AddOn, Controller
from trainyard.plan.context import SPEC

ADD_ON = AddOn(
    component="coredns",
    in_auto_mode=True,
    by=EKS,
    at=SPEC,
    after=("vpc-cni",),
    # As eksctl installs it where EKS does not: the same manifest.
    controllers=(
        Controller(
            "coredns",
            2,
            100,
            70,
            "eksctl v0.230.0 pkg/addons/default/assets/coredns-1.35.json",
            resources=("resources",),
            replicas=("replicaCount",),
        ),
    ),
)
