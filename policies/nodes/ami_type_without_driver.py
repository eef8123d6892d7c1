from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.ami_families import AL2023, driver_marks, families
from trainyard.core.cloud.plan import NodeGroupStack
from trainyard.core.launch.plan import LaunchTemplate
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World

_DEFAULT = "AL2023_x86_64_STANDARD"


@rule("HLT040")
def ami_type_without_driver(group: NodeGroupStack, world: World) -> Iterator[Finding]:
    """A managed node group of a template has accelerators, and an image without their driver.

    "If you specify a GPU instance type, make sure to also specify an applicable GPU AMI type" (EKS API,
    CreateNodegroup, `instanceTypes`): without `AmiType` it is the standard image, whose nodes offer no device. eksctl
    and Karpenter choose the image by the instance type. Nothing is said of groups with a launch template that names
    another image, or is not in the set.

    ## Fails

        Resources:
          Gpu:
            Type: AWS::EKS::Nodegroup
            Properties:
              ClusterName: base
              NodeRole: arn:aws:iam::111122223333:role/nodes
              Subnets: [subnet-0a1b2c3d4e5f60718]
              InstanceTypes: [p4d.24xlarge]

    ## Passes

        # as the first that fails, but
        Resources: {Gpu: {Properties: {AmiType: AL2023_x86_64_NVIDIA}}}
    """
    if group.unread or group.ami_type == "CUSTOM" or _may_have_other_image(group, world):
        return
    image = group.ami_type or _DEFAULT
    for name in group.instance_types:
        instance = world.catalog.instance(name)
        if instance is not None:
            resource = instance.accelerator_resource
        else:
            resource = None
        drivers = driver_marks(resource or "")
        if not drivers or instance is None:
            continue
        if not any(driver in image.upper() for driver in drivers):
            ours = families()[AL2023]
            arch = "ARM_64" if instance.arch == "arm64" else "x86_64"
            if group.ami_type:
                said = f"`{image}`"
            else:
                said = f"no `{worded(group, 'AmiType', 'ami_type')}`, which is `{image}`"
            driver = f"{ours.ami_types}_{arch}_{ours.drivers[resource or '']}"
            yield Finding(
                f"node group `{group.logical}` has `{name}`, and {said}",
                group.where("ami_type" if group.ami_type else "instance_types"),
                label="its nodes offer no device",
                help=worded(group, f"write `AmiType: {driver}`", f'write `ami_type = "{driver}"`'),
            )
            return


def _may_have_other_image(group: NodeGroupStack, world: World) -> bool:
    """Whether the launch template of a group names an image, or nobody knows it."""
    if not group.template:
        return False
    of_group = [each for each in world.plan.of(LaunchTemplate) if group.logical in each.groups]
    own = [each for each in of_group if each.at[:1] == group.at[:1]]
    return not own or any(each.own_image or each.ami_parameters or each.ami_names for each in own)
