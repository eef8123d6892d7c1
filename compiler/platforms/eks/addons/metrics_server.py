"""The metrics server, for `kubectl top`."""

from compiler.context import SPEC
from compiler.platforms.eks.addons.addon import EKS, AddOn, Controller

ADD_ON = AddOn(
    component="metrics-server",
    by=EKS,
    at=SPEC,
    after=("vpc-cni",),
    # The EKS add-on has two pods (re:Post, Kubernetes Metrics Server setup recommendations).
    controllers=(
        Controller(
            "metrics-server",
            2,
            100,
            200,
            "metrics-server v0.9.0 manifests/base/deployment.yaml",
            resources=("resources",),
            replicas=("replicas",),
        ),
    ),
)
