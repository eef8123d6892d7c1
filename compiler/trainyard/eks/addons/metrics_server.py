"""The metrics server, for `kubectl top`."""

from trainyard.eks.addons.addon import EKS, AddOn, Controller
from trainyard.plan.context import SPEC

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
