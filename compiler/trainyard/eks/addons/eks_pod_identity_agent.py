"""The EKS pod identity agent, which hands out the credentials of roles."""

from trainyard.eks.addons.addon import EKS, AddOn, Daemon
from trainyard.plan.context import SPEC

ADD_ON = AddOn(
    component="eks-pod-identity-agent",
    in_auto_mode=True,
    by=EKS,
    at=SPEC,
    after=("kube-proxy",),
    # EKS publishes no manifest of it; the chart has `resources: {}` (eks-pod-identity-agent 1.2.0 chart values).
    daemons=(
        Daemon(
            "eks-pod-identity-agent",
            0,
            0,
            "EKS add-on eks-pod-identity-agent: no request known",
            published=False,
            resources=("resources",),
        ),
    ),
)
