from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.model.worded import spelled
from trainyard.judge.policy.rule import Finding, rule

_INSTALLS = re.compile(
    r"\b(?:install|curl|wget|cp|mv|tar|pull)\b[^\n]*\b(?:kubelet|nodeadm|kubeadm|k3s)"
)

_PARAMETERS = "/aws/service/deeplearning/"
"""Where SSM has the ids of Deep Learning AMIs (AWS Deep Learning AMIs, developer guide, ssm-parameters)."""


@rule("HLT026", aliases=("image-without-kubelet",))
def ami_without_kubelet(launch: Launch) -> Iterator[Finding]:
    """Nodes boot an image that cannot join a cluster.

    A Deep Learning AMI is made for single machines: it has drivers and frameworks, and neither kubelet nor nodeadm,
    which the user data of Karpenter's AMI families starts (AWS Deep Learning AMIs, developer guide;
    karpenter-provider-aws v1.14.1, pkg/providers/amifamily). The instances run, cost, and never become nodes. With
    `amiFamily: Custom`, or with user data that installs a kubelet, they may be: nothing is reported. A launch
    template is judged where a node group of EKS starts its nodes by it.

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
    if isinstance(launch, NodeClass) and launch.ami_family == "Custom":
        return
    if isinstance(launch, LaunchTemplate) and not launch.groups:
        return
    if "scripts" in launch.unread or any(_INSTALLS.search(each.text) for each in launch.scripts):
        return
    names = [name.lstrip("*").lower() for name in launch.ami_names]
    by_name = any(name.startswith("deep learning ") for name in names)
    if by_name or any(_PARAMETERS in parameter for parameter in launch.ami_parameters):
        yield Finding(
            f"{launch.words} boots a Deep Learning AMI, which has no kubelet",
            launch.where("ami_names"),
            label="its instances never join the cluster",
            help=_image_of_eks(launch),
        )


def _image_of_eks(launch: Launch) -> str:
    if isinstance(launch, LaunchTemplate):
        field = spelled(launch, "ImageId")
        return f"remove `{field}`, so that EKS takes the image of the group, which has the drivers"
    return "write `alias: al2023@v20260714`, the EKS image with the drivers"
