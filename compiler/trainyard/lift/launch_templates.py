"""Launch templates of EC2, as CloudFormation and Terraform write them: one reading, two spellings.

What EC2 calls by one name CloudFormation writes in its spelling (``MetadataOptions``), and Terraform in another
(``metadata_options``); what either fills in later is unknown (AWS::EC2::LaunchTemplate, cfn-lint 1.53;
aws_launch_template, hashicorp/aws 6.25.0).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from trainyard.catalog.ami_families import (
    AL2023,
    AmiFamily,
    of_ami_type,
    of_image_name,
    of_parameter,
)
from trainyard.core.cloud.plan import NodeGroupStack
from trainyard.core.launch.plan import (
    BlockDevice,
    BootScript,
    LaunchTemplate,
    NetworkInterface,
    Setting,
)
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.lift.reader import Reader
from trainyard.plan.base import ROOT


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a format spells a template, and reads its values. ``field`` takes EC2's name of one; ``entries`` are the
    blocks of a list; ``name`` is a text, or what a reference is to; ``filled_in``: whether a value, or a part of it, is
    known later; ``image``: the SSM parameter and the name by which another part of the stack finds an image."""

    field: Callable[[Reader, str], Reader]
    entries: Callable[[Reader], list[Reader]]
    text: Callable[[Reader], str | None]
    name: Callable[[Reader], str | None]
    flag: Callable[[Reader], bool | None]
    filled_in: Callable[[Reader], bool]
    script: Callable[[Reader], BootScript | None]
    image: Callable[[Reader], tuple[str, str]]

    def follow(self, body: Reader, *names: str) -> Reader:
        """Several fields down."""
        for name in names:
            body = self.field(body, name)
        return body


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


def launch_template(
    body: Reader, logical: str, data: Reader, name: Reader, spelling: Spelling
) -> LaunchTemplate:
    """A template, whose settings are in ``data``."""
    text, follow = spelling.text, spelling.follow
    metadata = follow(data, "MetadataOptions")
    tokens, hops = follow(metadata, "HttpTokens"), follow(metadata, "HttpPutResponseHopLimit")
    market = follow(data, "InstanceMarketOptions")
    target = follow(data, "CapacityReservationSpecification", "CapacityReservationTarget")
    group = follow(data, "Placement", "GroupName")
    profile = follow(data, "IamInstanceProfile")
    image = follow(data, "ImageId")
    types = follow(data, "InstanceType")
    user_data = follow(data, "UserData")
    devices, interfaces = follow(data, "BlockDeviceMappings"), follow(data, "NetworkInterfaces")
    read = tuple(_interfaces(interfaces, spelling))
    public = _public(interfaces, spelling)
    parameter, image_name = _image(image, spelling)
    groups = _security_groups(data, spelling)
    family = of_parameter(parameter) or of_image_name(image_name)
    script = spelling.script(user_data)
    reserved = follow(target, "CapacityReservationId") or follow(
        target, "CapacityReservationResourceGroupArn"
    )
    in_script = script.text if script is not None else ""
    own_type = text(types)
    open_fields = {
        "instance_types": spelling.filled_in(types),
        "interfaces": spelling.filled_in(interfaces),
        "block_devices": spelling.filled_in(devices),
        "reservation": spelling.filled_in(target),
        "image": spelling.filled_in(image),
        "scripts": bool(user_data) and script is None,
    }
    return LaunchTemplate(
        at=body.at,
        name=logical,
        template_name=text(name),
        instance_types=(own_type,) if own_type else (),
        ami_names=(image_name,) if image_name else (),
        ami_parameters=(parameter,) if parameter else (),
        instance_profile=text(follow(profile, "Name")),
        profile_arn=text(follow(profile, "Arn")),
        of_groups=tuple(_settings_of_groups(data, spelling)),
        interfaces=read,
        block_devices=tuple(_devices(devices, spelling)),
        instance_store="RAID0" if _RAID.search(in_script) else None,
        metadata_hops=hops.number(),
        placement_group=text(group),
        reservation=text(reserved),
        capacity_block=text(follow(market, "MarketType")) == "capacity-block",
        image=family.alias if family is not None else "",
        own_image=bool(image) and family is None,
        scripts=(script,) if script is not None else (),
        http_tokens=text(tokens),
        public=True if public is not None else None,
        for_nodes=family is not None or _is_for_nodes(in_script, data),
        security_groups=bool(groups.value),
        own_types=bool(own_type),
        origins={
            "instance_types": types.at,
            "ami_parameters": image.at,
            "ami_names": image.at,
            "image": image.at,
            "instance_profile": follow(profile, "Name").at,
            "profile_arn": follow(profile, "Arn").at,
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


def _settings_of_groups(data: Reader, spelling: Spelling) -> Iterator[Setting]:
    """What a node group of EKS says itself (EKS API, LaunchTemplateSpecification)."""
    follow = spelling.follow
    profile = follow(data, "IamInstanceProfile")
    if profile:
        yield Setting("IamInstanceProfile", profile.at)
    market = follow(data, "InstanceMarketOptions")
    if spelling.text(follow(market, "MarketType")) == "spot":
        yield Setting("InstanceMarketOptions", market.at)
    hibernation = follow(data, "HibernationOptions")
    if spelling.flag(follow(hibernation, "Configured")):
        yield Setting("HibernationOptions", hibernation.at)
    for interface in spelling.entries(follow(data, "NetworkInterfaces")):
        subnet = spelling.field(interface, "SubnetId")
        if subnet:
            yield Setting("SubnetId", subnet.at)


def _security_groups(data: Reader, spelling: Spelling) -> Reader:
    """The security groups of a template itself."""
    for name in ("SecurityGroupIds", "VpcSecurityGroupIds"):
        found = spelling.follow(data, name)
        if found.value:
            return found
    return spelling.follow(data, "SecurityGroups")


def _is_for_nodes(script: str, data: Reader) -> bool:
    """Whether machines join a cluster, by what they run or how they are tagged."""
    return bool(_OF_NODES.search(script)) or _OF_CLUSTER in repr(data.value)


def _image(image: Reader, spelling: Spelling) -> tuple[str, str]:
    """The SSM parameter and the name by which a template selects its image; empty where it does not."""
    found = _BY_PARAMETER.search(spelling.text(image) or "")
    if found is not None:
        return found[1], ""
    return spelling.image(image)


def _interfaces(interfaces: Reader, spelling: Spelling) -> Iterator[NetworkInterface]:
    """The interfaces whose place is known. One without a card is on the first (EC2 API, NetworkCardIndex)."""
    for interface in spelling.entries(interfaces):
        card = spelling.field(interface, "NetworkCardIndex")
        device = spelling.field(interface, "DeviceIndex").number()
        number = card.number() if card else 0
        if number is None or device is None:
            continue
        kind = spelling.field(interface, "InterfaceType")
        said = spelling.text(kind) or ("" if kind else "interface")
        yield NetworkInterface(number, device, said, interface.at)


def _public(interfaces: Reader, spelling: Spelling) -> Reader | None:
    """Where the first interface that asks for a public address does."""
    for interface in spelling.entries(interfaces):
        public = spelling.field(interface, "AssociatePublicIpAddress")
        if spelling.flag(public):
            return public
    return None


def _devices(devices: Reader, spelling: Spelling) -> Iterator[BlockDevice]:
    for device in spelling.entries(devices):
        ebs = spelling.field(device, "Ebs")
        size = spelling.field(ebs, "VolumeSize")
        gibibytes = size.number()
        if gibibytes is None:
            continue
        yield BlockDevice(
            spelling.text(spelling.field(device, "DeviceName")) or "",
            Quantity.gib(gibibytes),
            spelling.text(spelling.field(ebs, "VolumeType")) or "",
            spelling.field(ebs, "Iops").number(),
            spelling.field(ebs, "Throughput").number(),
            spelling.flag(spelling.field(ebs, "Encrypted")) or False,
            device.at,
            size.at,
        )


def snake(name: str) -> str:
    """EC2's name of a field as Terraform's provider spells it."""
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


def starter_of_ec2(body: Reader, logical: str, spelling: Spelling) -> Starter:
    """A group of EC2 Auto Scaling (AWS::AutoScaling::AutoScalingGroup, aws_autoscaling_group)."""
    mixed = spelling.follow(body, "MixedInstancesPolicy", "LaunchTemplate")
    named = template_named(spelling.field(body, "LaunchTemplate"), spelling)
    several = spelling.field(mixed, "Overrides") or spelling.field(mixed, "Override")
    listed = [
        spelling.text(spelling.field(each, "InstanceType")) for each in spelling.entries(several)
    ]
    known = tuple(filter(None, listed))
    return Starter(
        logical,
        named or template_named(spelling.field(mixed, "LaunchTemplateSpecification"), spelling),
        known if len(known) == len(listed) and not spelling.filled_in(several) else (),
        several.at,
        for_nodes=_OF_CLUSTER in repr(body.value),
    )


def template_named(reference: Reader, spelling: Spelling) -> str:
    """What a group says of its template: what the stack calls it, or its name; empty where that is not known."""
    for name in ("LaunchTemplateId", "LaunchTemplateName", "Id", "Name"):
        found = spelling.name(spelling.field(reference, name))
        if found:
            return found
    return ""
