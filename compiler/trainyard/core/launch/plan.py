"""How machines start, whoever says it: a node class, a node group, or a launch template of EC2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import ClassVar

from trainyard.catalog.ami_families import AmiFamily, families
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.base import ROOT, PlanItem


@dataclass(frozen=True, slots=True)
class NetworkInterface:
    """A network interface of a machine. ``type`` is ``interface``, ``efa`` or ``efa-only``, empty if nobody knows."""

    card: int
    device: int
    type: str
    at: Route = field(default=ROOT, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BlockDevice:
    """An EBS volume of a node. ``iops`` and ``throughput`` (MiB/s) are gp3's; ``None`` leaves AWS' default."""

    device: str
    size: Quantity
    type: str = "gp3"
    iops: int | None = None
    throughput: int | None = None
    encrypted: bool = True
    at: Route = field(default=ROOT, compare=False, repr=False)
    size_at: Route = field(default=ROOT, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BootScript:
    """Lines that a machine runs when it boots, and the place of their text."""

    text: str
    at: Route

    def line_at(self, offset: int) -> Route:
        """The place of the line with a character of the text."""
        return self.at / self.text.count("\n", 0, offset)

    def commands(self) -> Iterator[tuple[int, str]]:
        """Its lines that are no comments, each with the offset of its beginning."""
        offset = 0
        for line in self.text.splitlines(keepends=True):
            if not line.lstrip().startswith("#"):
                yield offset, line
            offset += len(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(PlanItem):
    """How machines start. Each kind that says it has its own node, and a rule on this one is run on all of them.

    ``instance_types`` are those that it names itself; ``World.types_started`` also knows those of pools.
    ``ami_names`` and ``ami_parameters`` are the images that it selects by name or SSM parameter. ``capacity_block``: it
    starts machines of a Capacity Block, ``reservation`` is the id of the one that it names.

    What follows is only read back, and in no comparison: ``image``, the family of the AMI by its name in aliases,
    empty where it may be any; ``own_image``: the AMI is, or may be, one of one's own; ``scripts`` that machines run
    when they boot; ``http_tokens`` of the instance metadata, `optional` or `required`; ``public``: machines get a
    public address; ``for_nodes``: they become nodes of a cluster of Kubernetes.
    """

    called: ClassVar[str] = "launch"

    name: str
    instance_types: tuple[str, ...] = ()
    ami_names: tuple[str, ...] = ()
    ami_parameters: tuple[str, ...] = ()
    instance_profile: str | None = None
    interfaces: tuple[NetworkInterface, ...] = ()
    block_devices: tuple[BlockDevice, ...] = ()
    instance_store: str | None = None
    metadata_hops: int | None = None
    placement_group: str | None = None
    reservation: str | None = None
    capacity_block: bool = False
    image: str = field(default="", compare=False, repr=False)
    own_image: bool = field(default=False, compare=False, repr=False)
    scripts: tuple[BootScript, ...] = field(default=(), compare=False, repr=False)
    http_tokens: str | None = field(default=None, compare=False, repr=False)
    public: bool | None = field(default=None, compare=False, repr=False)
    for_nodes: bool = field(default=True, compare=False, repr=False)

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name

    @property
    def words(self) -> str:
        """What it is, and its name."""
        return f"{self.called} `{self.title}`"

    @property
    def family(self) -> AmiFamily | None:
        """The family of its AMI; ``None`` where it may be any."""
        return families().get(self.image)

    def where_type(self, name: str) -> Route:
        """The place of one of the instance types; the field where it has just one."""
        at = self.where("instance_types")
        if len(self.instance_types) <= 1:
            return at
        return at / self.instance_types.index(name)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a launch template by EC2's name, as in ``SubnetId``, and its place."""

    name: str
    at: Route


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTemplate(Launch):
    """AWS::EC2::LaunchTemplate, or Terraform's aws_launch_template, with what the groups of the same stack say that
    start machines by it. ``name`` is what the stack calls it, ``template_name`` its own name.

    ``instance_types`` are those of its groups where it has none of its own (``own_types``); ``groups`` are what the
    stack calls those of EKS, which boot an image of their own unless it names one. ``profile_arn``: that of its
    instance profile. ``of_groups``: what it says that a node group of EKS says itself. ``security_groups``: it names
    some, beside those of its interfaces. Of a field with a function or an expression inside, the rest is read, and its
    name is among those that are ``unread``.
    """

    carried: ClassVar[bool] = False
    called: ClassVar[str] = "launch template"

    template_name: str | None = None
    groups: tuple[str, ...] = ()
    profile_arn: str | None = None
    of_groups: tuple[Setting, ...] = ()
    security_groups: bool = False
    own_types: bool = False


__all__ = ["BlockDevice", "BootScript", "Launch", "LaunchTemplate", "NetworkInterface", "Setting"]
