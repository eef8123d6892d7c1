"""The VPC CNI, which gives pods their addresses and applies network policies."""

from __future__ import annotations

from typing import Any

from trainyard.core.network.spec import NetworkSection
from trainyard.eks.addons.addon import EKS, AddOn, Container, Daemon, Role, Setting
from trainyard.plan.context import SPEC


def values(setting: Setting) -> dict[str, Any]:
    """The add-on's configuration: network policies are off by default, and Cilium's where it is chained."""
    network = NetworkSection.of(setting.context.spec).network
    chained = network.cilium is not None
    return {"enableNetworkPolicy": "false" if chained else "true"}


ADD_ON = AddOn(
    component="vpc-cni",
    in_auto_mode=True,
    by=EKS,
    at=SPEC,
    values=values,
    # amazon-vpc-cni-k8s v1.23.0 charts/aws-vpc-cni values, and eksctl v0.230.0 pkg/addons/default/assets/aws-node.yaml:
    # aws-node 25m, aws-eks-nodeagent 25m.
    daemons=(
        Daemon(
            "aws-node",
            50,
            0,
            "amazon-vpc-cni-k8s v1.23.0 chart values, templates/daemonset.yaml",
            containers=(
                Container(25, 0, (("resources",),)),
                Container(25, 0, (("nodeAgent", "resources"), ("resources",))),
            ),
        ),
    ),
    role=Role(
        "kube-system",
        "aws-node",
        ("AmazonEKS_CNI_Policy",),
        source="eksctl v0.230.0 known_addons.go; EKS user guide workloads-add-ons-available-eks",
    ),
)
