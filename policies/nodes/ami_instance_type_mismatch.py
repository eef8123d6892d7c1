from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard.catalog import InstanceType
from trainyard.catalog.instance import NEURON_RESOURCE, NVIDIA_RESOURCE
from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("HLT027", aliases=("image-of-other-machines",))
def ami_instance_type_mismatch(launch: Launch, world: World) -> Iterator[Finding]:
    """Nodes boot an image of another architecture, or without the driver of their accelerators.

    An alias lets Karpenter take the right variant for each type; an SSM parameter names one image (EKS user guide,
    retrieve-ami-id: `…/optimized-ami/VERSION/amazon-linux-2023/ARCH/VARIANT/…`). With none for the architecture of
    a type Karpenter launches nothing (karpenter-provider-aws v1.14.1, amifamily); `standard` has no accelerator
    driver, so that the nodes offer no device and the pods stay Pending. Reported where it holds for every type of the
    class, and for every image that it selects.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          amiFamily: AL2023
          amiSelectorTerms:
            - $patch: replace
              ssmParameter: /aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          amiFamily: AL2023
          amiSelectorTerms:
            - $patch: replace
              ssmParameter: /aws/service/eks/optimized-ami/1.35/amazon-linux-2023/arm64/nvidia/recommended/image_id

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          amiFamily: AL2023
          amiSelectorTerms:
            - $patch: replace
              ssmParameter: /aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/nvidia/recommended/image_id
    """
    images = [re.search(_IMAGE, parameter) for parameter in launch.ami_parameters]
    if len(images) != 1 or images[0] is None or launch.ami_names:
        return
    types = world.types_started(launch)
    if not types:
        return
    arch, variant = images[0].groups()
    wrong = _arch(types, _ARCH.get(arch, arch))
    if not wrong and not _may_install(launch):
        wrong = _driver(types, variant)
    if wrong:
        if types[0].arch == "arm64":
            need = "arm64"
        else:
            need = "x86_64"
        driver = _VARIANTS.get(types[0].accelerator_resource or "", "standard")
        right = f"{need}/{driver}"
        yield Finding(
            f"{launch.words} boots image `{arch}/{variant}`, and {wrong}",
            launch.where("ami_parameters"),
            label="its pods stay Pending",
            help=f"write `{right}` in the path{_or_alias(launch)}",
        )


def _or_alias(launch: Launch) -> str:
    return "" if isinstance(launch, LaunchTemplate) else ", or `alias: al2023@v20260714`"


def _may_install(launch: Launch) -> bool:
    """Whether user data may install a driver. That of a launch template with an image has to start nodeadm."""
    if not isinstance(launch, LaunchTemplate):
        return bool(launch.scripts)
    is_open = "scripts" in launch.unread
    return is_open or any(re.search(_FETCHES, script.text) for script in launch.scripts)


_IMAGE = r"/optimized-ami/[^/]+/amazon-linux-2023/(x86_64|arm64)/(standard|nvidia|neuron)/"
_FETCHES = r"nvidia|neuron|\b(?:curl|wget|dnf|yum|rpm|aws|git|docker|ctr)\b"
_ARCH = {"x86_64": "amd64"}
_VARIANTS = {NVIDIA_RESOURCE: "nvidia", NEURON_RESOURCE: "neuron"}


def _arch(types: Sequence[InstanceType], arch: str) -> str:
    if any(instance.arch == arch for instance in types):
        return ""
    return f"`{types[0].name}` is `{types[0].arch}`"


def _driver(types: Sequence[InstanceType], variant: str) -> str:
    wanted = {_VARIANTS.get(instance.accelerator_resource or "", variant) for instance in types}
    if variant in wanted:
        return ""
    return f"`{types[0].name}` needs the driver of `{min(wanted)}`"
