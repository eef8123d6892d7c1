from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import Launch
from trainyard.judge.model.worded import setting
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.units import Quantity

_SYSTEM_ALONE = Quantity.gib(20)
"""Whoever gives the system more than this means the images."""


@rule("HLT020", aliases=("root-volume-elsewhere",))
def root_volume_device_mismatch(launch: Launch) -> Iterator[Finding]:
    """A block device mapping for the volume of images and pods names another device.

    The images of AL2023 and Bottlerocket boot from `/dev/xvda` (karpenter-provider-aws v1.14.1, amifamily): a mapping
    for `/dev/sda1` adds an empty disk, and the root stays at 20 GiB, which one training image fills. Bottlerocket has
    its system alone there, and images and pods on `/dev/xvdb`, of 20 GiB as well.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {blockDeviceMappings: [{deviceName: /dev/sda1, ebs: {volumeSize: 500Gi, volumeType: gp3}}]}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          amiSelectorTerms: [{alias: bottlerocket@v1.40.0}]
          blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 500Gi, volumeType: gp3}}]

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          amiSelectorTerms: [{alias: bottlerocket@v1.40.0}]
          blockDeviceMappings: [{deviceName: /dev/xvdb, ebs: {volumeSize: 500Gi, volumeType: gp3}}]

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 500Gi, volumeType: gp3}}]}
    """
    family = launch.family
    if family is None or not family.root_device or "block_devices" in launch.unread:
        return
    root = family.root_device
    devices = [mapping.device for mapping in launch.block_devices]
    if "/dev/sda1" in devices and root not in devices:
        yield Finding(
            f"{launch.words} maps `/dev/sda1`, and `{family.alias}` boots from `{root}`",
            launch.block_devices[devices.index("/dev/sda1")].at,
            label="the root volume keeps its size",
            help=f"write {setting(launch, 'DeviceName', family.data_device or root)}",
        )
    data = family.data_device
    if data and root in devices and data not in devices:
        index = devices.index(root)
        if launch.block_devices[index].size > _SYSTEM_ALONE:
            alone = f"{launch.words} maps `{root}` alone"
            yield Finding(
                f"{alone}, and `{family.alias}` has images and pods on `{data}`",
                launch.block_devices[index].at,
                label="their volume keeps its size",
                help=f"write {setting(launch, 'DeviceName', data)}",
            )
