"""Launch templates of EC2, by EC2's names of their fields: one reading, whatever format a file has.

What a file fills in later is unknown (AWS::EC2::LaunchTemplate, cfn-lint 1.53; CreateLaunchTemplate, EC2 API).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from trainyard.catalog.ami_families import (
    AL2023,
    AmiFamily,
    of_ami_type,
    of_image_name,
    of_parameter,
)
from trainyard.core.cloud.plan import NodeGroupStack
from trainyard.core.launch.plan import BlockDevice, LaunchTemplate, NetworkInterface, Setting
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.lift.cloud_property import Property
from trainyard.plan.base import ROOT


@dataclass(frozen=True, slots=True)
class Starter:
    """A group that starts machines by a template: of EKS, or one of EC2 Auto Scaling. ``template`` is what it calls the
    template, empty where that is not known; ``types`` are those that it names, if all are known."""

    logical: str
    template: str
    types: tuple[str, ...]
    types_at: Route
    of_eks: bool = False
    ami_type: str | None = None
    ami_type_at: Route = ROOT
    for_nodes: bool = False


_OF_NODES = re.compile(r"/etc/eks/|\bbootstrap\.sh\b|node\.eks\.aws|\bnodeadm\b|kubelet")
_OF_CLUSTER = "kubernetes.io/cluster/"
_RAID = re.compile(r"setup-local-disks|\blocalStorage\b|\bmdadm\b")
_BY_PARAMETER = re.compile(r"resolve:ssm:(/[^}]*?)(?::\d+)?(?:\}\}|\Z)")


def launch_template(resource: Property) -> LaunchTemplate:
    """A template of EC2."""
    data = resource / "LaunchTemplateData"
    metadata = data / "MetadataOptions"
    tokens, hops = metadata / "HttpTokens", metadata / "HttpPutResponseHopLimit"
    market = data / "InstanceMarketOptions"
    target = data / "CapacityReservationSpecification" / "CapacityReservationTarget"
    group = data / "Placement" / "GroupName"
    profile = data / "IamInstanceProfile"
    image = data / "ImageId"
    types = data / "InstanceType"
    user_data = data / "UserData"
    devices, interfaces = data / "BlockDeviceMappings", data / "NetworkInterfaces"
    read = tuple(_interfaces(interfaces))
    public = _public(interfaces)
    parameter, image_name = _image(image)
    groups = _security_groups(data)
    family = of_parameter(parameter) or of_image_name(image_name)
    script = user_data.script()
    reserved = target / "CapacityReservationId" or target / "CapacityReservationResourceGroupArn"
    in_script = script.text if script is not None else ""
    own_type = types.text()
    open_fields = {
        "instance_types": types.is_filled_in(),
        "interfaces": interfaces.is_filled_in(),
        "block_devices": devices.is_filled_in(),
        "reservation": target.is_filled_in(),
        "image": image.is_filled_in(),
        "scripts": bool(user_data) and script is None,
    }
    return LaunchTemplate(
        at=resource.at,
        name=resource.resource,
        template_name=(resource / "LaunchTemplateName").text(),
        instance_types=(own_type,) if own_type else (),
        ami_names=(image_name,) if image_name else (),
        ami_parameters=(parameter,) if parameter else (),
        instance_profile=(profile / "Name").text(),
        profile_arn=(profile / "Arn").text(),
        of_groups=tuple(_settings_of_groups(data)),
        interfaces=read,
        block_devices=tuple(_devices(devices)),
        instance_store="RAID0" if _RAID.search(in_script) else None,
        metadata_hops=hops.number(),
        placement_group=group.text(),
        reservation=reserved.text(),
        capacity_block=(market / "MarketType").text() == "capacity-block",
        image=family.alias if family is not None else "",
        own_image=bool(image) and family is None,
        scripts=(script,) if script is not None else (),
        http_tokens=tokens.text(),
        public=True if public is not None else None,
        for_nodes=family is not None or _is_for_nodes(in_script, data),
        security_groups=bool(groups.value),
        own_types=bool(own_type),
        origins={
            "instance_types": types.at,
            "ami_parameters": image.at,
            "ami_names": image.at,
            "image": image.at,
            "instance_profile": (profile / "Name").at,
            "profile_arn": (profile / "Arn").at,
            "interfaces": interfaces.at,
            "block_devices": devices.at,
            "metadata_hops": hops.at,
            "placement_group": group.at,
            "reservation": reserved.at,
            "capacity_block": market.at,
            "scripts": user_data.at,
            "http_tokens": tokens.at,
            "public": (public or interfaces).at,
            "security_groups": groups.at,
        },
        unread=frozenset(name for name, is_open in open_fields.items() if is_open),
    )


def _settings_of_groups(data: Property) -> Iterator[Setting]:
    """What a node group of EKS says itself (EKS API, LaunchTemplateSpecification)."""
    profile = data / "IamInstanceProfile"
    if profile:
        yield Setting("IamInstanceProfile", profile.at)
    market = data / "InstanceMarketOptions"
    if (market / "MarketType").text() == "spot":
        yield Setting("InstanceMarketOptions", market.at)
    hibernation = data / "HibernationOptions"
    if (hibernation / "Configured").flag():
        yield Setting("HibernationOptions", hibernation.at)
    for interface in (data / "NetworkInterfaces").blocks():
        subnet = interface / "SubnetId"
        if subnet and not interface.is_made():
            yield Setting("SubnetId", subnet.at)


def _security_groups(data: Property) -> Property:
    """The security groups of a template itself."""
    ids = data / "SecurityGroupIds"
    return ids if ids.value else data / "SecurityGroups"


def _is_for_nodes(script: str, data: Property) -> bool:
    """Whether machines join a cluster, by what they run or how they are tagged."""
    return bool(_OF_NODES.search(script)) or _OF_CLUSTER in repr(data.value)


def _image(image: Property) -> tuple[str, str]:
    """The SSM parameter and the name by which a template selects its image; empty where it does not."""
    found = _BY_PARAMETER.search(image.text() or "")
    if found is not None:
        return found[1], ""
    return image.image()


def _interfaces(interfaces: Property) -> Iterator[NetworkInterface]:
    """The interfaces whose place is known. One without a card is on the first (EC2 API, NetworkCardIndex)."""
    for interface in interfaces.blocks():
        card = interface / "NetworkCardIndex"
        device = (interface / "DeviceIndex").number()
        number = card.number() if card else 0
        if number is None or device is None:
            continue
        kind = interface / "InterfaceType"
        said = kind.text() or ("" if kind else "interface")
        yield NetworkInterface(number, device, said, interface.at)


def _public(interfaces: Property) -> Property | None:
    """Where the first interface that asks for a public address does."""
    for interface in interfaces.blocks():
        public = interface / "AssociatePublicIpAddress"
        if public.flag():
            return public
    return None


def _devices(devices: Property) -> Iterator[BlockDevice]:
    for device in devices.blocks():
        ebs = device / "Ebs"
        size = ebs / "VolumeSize"
        gibibytes = size.number()
        if gibibytes is None:
            continue
        yield BlockDevice(
            (device / "DeviceName").text() or "",
            Quantity.gib(gibibytes),
            (ebs / "VolumeType").text() or "",
            (ebs / "Iops").number(),
            (ebs / "Throughput").number(),
            (ebs / "Encrypted").flag() or False,
            device.at,
            size.at,
        )


def snake(name: str) -> str:
    """AWS' name of a field in small letters, with ``_`` between words."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def decoded(text: str) -> str:
    """What is in base64; nothing where it is none, or no text."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def joined(
    templates: Iterable[LaunchTemplate], starters: Sequence[Starter]
) -> list[LaunchTemplate]:
    """Templates with what the groups that start machines by them say of these."""
    whole: list[LaunchTemplate] = []
    for template in templates:
        names = {template.name, template.template_name}
        own = [starter for starter in starters if starter.template in names]
        whole.append(_with_starters(template, own) if own else template)
    return whole


def _with_starters(template: LaunchTemplate, starters: Sequence[Starter]) -> LaunchTemplate:
    of_eks = [starter for starter in starters if starter.of_eks]
    template = replace(
        template,
        groups=tuple(starter.logical for starter in of_eks),
        for_nodes=template.for_nodes or any(each.for_nodes or each.of_eks for each in starters),
    )
    if not template.instance_types and "instance_types" not in template.unread:
        template = _with_types(template, starters)
    is_without_image = not template.own_image and not template.image
    if of_eks and is_without_image and "image" not in template.unread:
        families = {_family_of(starter) for starter in of_eks}
        image = families.pop() if len(families) == 1 else ""
        origins = {**template.origins, "image": of_eks[0].ami_type_at}
        template = replace(template, image=image, own_image=not image, origins=origins)
    return template


def _with_types(template: LaunchTemplate, starters: Sequence[Starter]) -> LaunchTemplate:
    """A template with the types of all its groups, where these are known; each at the first place that names any."""
    if not all(starter.types for starter in starters):
        return template
    types = dict.fromkeys(name for starter in starters for name in starter.types)
    origins = {**template.origins, "instance_types": starters[0].types_at}
    return replace(template, instance_types=tuple(types), origins=origins)


def _family_of(starter: Starter) -> str:
    """The family that EKS boots for a group whose template names no image: without one in the group, that of Amazon
    Linux 2023 (EKS API, CreateNodegroup, amiType)."""
    if starter.ami_type is None:
        return AL2023
    family: AmiFamily | None = of_ami_type(starter.ami_type)
    return family.alias if family is not None else ""


def starter_of_eks(group: NodeGroupStack) -> Starter:
    """A group of EKS as what starts machines."""
    return Starter(
        group.logical,
        group.template_name or "",
        group.instance_types if "instance_types" not in group.unread else (),
        group.where("instance_types"),
        of_eks=True,
        ami_type="?" if "ami_type" in group.unread else group.ami_type,
        ami_type_at=group.where("ami_type") if group.ami_type else group.at,
    )


def starter_of_ec2(group: Property) -> Starter:
    """A group of EC2 Auto Scaling (AWS::AutoScaling::AutoScalingGroup)."""
    mixed = group / "MixedInstancesPolicy" / "LaunchTemplate"
    named = template_named(group / "LaunchTemplate")
    several = mixed / "Overrides"
    listed = [(each / "InstanceType").text() for each in several.blocks()]
    known = tuple(filter(None, listed))
    return Starter(
        group.resource,
        named or template_named(mixed / "LaunchTemplateSpecification"),
        known if len(known) == len(listed) and not several.is_filled_in() else (),
        several.at,
        for_nodes=_OF_CLUSTER in repr(group.value),
    )


def template_named(reference: Property) -> str:
    """What a group says of its template: what the stack calls it, or its name; empty where that is not known."""
    for name in ("LaunchTemplateId", "LaunchTemplateName", "Id", "Name"):
        found = (reference / name).name()
        if found:
            return found
    return ""
