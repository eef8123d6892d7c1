from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog.ami_families import of_alias
from compiler.plan.units import Quantity
from compiler.platforms.eks.nodes.plan import NodeClass
from compiler.policy.rule import Finding, rule

_SYSTEM_ALONE = Quantity.gib(20)
"""Whoever gives the system more than this means the images."""


@rule("HLT020", aliases=("root-volume-elsewhere",))
def root_volume_device_mismatch(node_class: NodeClass) -> Iterator[Finding]:
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
    image = node_class.ami_alias or node_class.ami_family or ""
    family = of_alias(image)
    if family is None or not family.root_device:
        return
    root = family.root_device
    devices = [mapping.device for mapping in node_class.block_devices]
    if "/dev/sda1" in devices and root not in devices:
        yield Finding(
            f"node class `{node_class.name}` maps `/dev/sda1`, and `{family.alias}` boots from `{root}`",
            node_class.where("block_devices") / devices.index("/dev/sda1"),
            label="the root volume keeps its size",
            help=f"write `deviceName: {family.data_device or root}`",
        )
    data = family.data_device
    if data and root in devices and data not in devices:
        index = devices.index(root)
        if node_class.block_devices[index].size > _SYSTEM_ALONE:
            alone = f"node class `{node_class.name}` maps `{root}` alone"
            yield Finding(
                f"{alone}, and `{family.alias}` has images and pods on `{data}`",
                node_class.where("block_devices") / index,
                label="their volume keeps its size",
                help=f"write `deviceName: {data}`",
            )
