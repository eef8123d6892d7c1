"""kube-proxy, which routes to Services."""

from trainyard.eks.addons.addon import EKS, AddOn, Daemon
from trainyard.plan.context import SPEC

ADD_ON = AddOn(
    component="kube-proxy",
    in_auto_mode=True,
    by=EKS,
    at=SPEC,
    after=("vpc-cni",),
    # EKS publishes no manifest of it, but the schema of its configuration, which has `resources`. A tenth of a core is
    # kept free: a job that asks for less than it could is placed, one that asks for more is not.
    daemons=(
        Daemon(
            "kube-proxy",
            100,
            0,
            "EKS add-on kube-proxy: kept free, its request is not published",
            published=False,
            resources=("resources",),
        ),
    ),
)
