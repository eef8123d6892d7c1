from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.model.bodies import body_at
from compiler.platforms.eks.nodes.plan import NodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World

_INSTALLS = re.compile(
    r"\b(?:install|curl|wget|cp|mv|tar|pull)\b[^\n]*\b(?:kubelet|nodeadm|kubeadm|k3s)"
)


@rule("HLT026", aliases=("image-without-kubelet",))
def ami_without_kubelet(node_class: NodeClass, world: World) -> Iterator[Finding]:
    """Nodes boot an image that cannot join a cluster.

    A Deep Learning AMI is made for single machines: it has drivers and frameworks, and neither kubelet nor nodeadm,
    which the user data of Karpenter's AMI families starts (AWS Deep Learning AMIs, developer guide;
    karpenter-provider-aws v1.14.1, pkg/providers/amifamily). The instances run, cost, and never become nodes. With
    `amiFamily: Custom`, or with user data that installs a kubelet, they may be: nothing is reported.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          amiFamily: AL2023
          amiSelectorTerms:
            - $patch: replace
              name: "Deep Learning OSS Nvidia Driver AMI GPU PyTorch 2.9 (Amazon Linux 2023)*"
              owner: amazon

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          amiFamily: AL2023
          amiSelectorTerms: [{$patch: replace, name: "amazon-eks-node-al2023-x86_64-nvidia-1.35-v20260714"}]

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          amiFamily: Custom
          amiSelectorTerms: [{$patch: replace, name: "Deep Learning Base AMI with our kubelet"}]
    """
    if node_class.ami_family == "Custom":
        return
    user_data = body_at(world, node_class.at / "spec" / "userData")
    if isinstance(user_data, str) and _INSTALLS.search(user_data):
        return
    names = [name.lstrip("*").lower() for name in node_class.ami_names]
    if any(name.startswith("deep learning ") for name in names):
        yield Finding(
            f"node class `{node_class.name}` boots a Deep Learning AMI, which has no kubelet",
            node_class.where("ami_alias"),
            label="its instances never join the cluster",
            help="write `alias: al2023@v20260714`, the EKS image with the drivers",
        )
