"""Families of AMIs that nodes of EKS boot (``data/ami_families.json``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from datetime import date
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA
from trainyard.catalog.versions import version_key
from trainyard.language.dataclass import dataclass

AL2023 = "al2023"
"""The family that nodes of EKS boot where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiFamily:
    """A family of AMIs; a fact that is empty is not known.

    ``alias``, ``karpenter`` and ``eksctl``: its name in an alias, in ``amiFamily`` of Karpenter, and in that of
    eksctl; ``ami_types``: what EKS' names of its images begin with. ``drivers``: by resource, the part of such a
    name that says that the image has its driver. ``image_names`` and ``parameters``: what the names of EKS' images
    begin with, and what SSM parameters of them have. ``root_device``: the disk that it boots from; ``data_device``:
    the one with images and pods, where it is another, and ``system_gib`` what the first then has.
    ``first_release``: the day before which there was no image; ``by_day``: releases are called by their day.
    ``pinned``: whether an alias may name a release. ``runs_commands``: nodes run commands of user data when they
    boot, so that they can be clients of Lustre over EFA. ``lustre``: the versions of file systems that they mount.
    ``last_kubernetes``: the last minor version for which there are images.
    """

    alias: str
    title: str
    karpenter: str
    eksctl: str = ""
    ami_types: str = ""
    drivers: Mapping[str, str] = field(default_factory=dict)
    image_names: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    root_device: str = ""
    data_device: str = ""
    system_gib: int = 0
    first_release: str = ""
    by_day: bool = False
    pinned: bool = True
    runs_commands: bool = False
    lustre: tuple[str, ...] = ()
    last_kubernetes: str = ""
    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def first_day(self) -> date | None:
        """The day of its first release."""
        if not self.first_release:
            return None
        return date.fromisoformat(self.first_release)

    @property
    def gone_in(self) -> str:
        """The minor version of Kubernetes from which on there is no image; "" where there is one for all."""
        if not self.last_kubernetes:
            return ""
        major, minor = version_key(self.last_kubernetes)[:2]
        return f"{major}.{minor + 1}"

    def is_for(self, kubernetes: str) -> bool:
        """Whether there are images for a version of Kubernetes."""
        if not self.gone_in:
            return True
        return version_key(kubernetes) < version_key(self.gone_in)

    def cannot_mount(self, lustre: str) -> bool:
        """Whether its nodes are known to mount no file system of a version: one older than all that they mount."""
        if not self.lustre:
            return False
        return version_key(lustre) < min(map(version_key, self.lustre))


@cache
def families() -> Mapping[str, AmiFamily]:
    """The families by their name in aliases."""
    data: dict[str, Any] = json.loads((DATA / "ami_families.json").read_bytes())
    return {alias: _family(alias, facts) for alias, facts in data["families"].items()}


def _family(alias: str, facts: Mapping[str, Any]) -> AmiFamily:
    known: dict[str, Any] = {
        name: tuple(fact) if isinstance(fact, list) else fact for name, fact in facts.items()
    }
    return AmiFamily(alias=alias, **known)


def of_alias(alias: str) -> AmiFamily | None:
    """The family of an alias of Karpenter, like ``al2023@v20260714``."""
    return families().get(alias.partition("@")[0].lower())


def of_karpenter(name: str) -> AmiFamily | None:
    """The family that Karpenter calls so in ``amiFamily``."""
    return next((family for family in families().values() if family.karpenter == name), None)


def of_eksctl(name: str) -> AmiFamily | None:
    """The family that eksctl calls so in ``amiFamily``."""
    named = (family for family in families().values() if family.eksctl)
    return next((family for family in named if family.eksctl == name), None)


def of_ami_type(name: str) -> AmiFamily | None:
    """The family of an ``amiType`` of EKS, like ``AL2023_x86_64_NVIDIA``."""
    first = name.partition("_")[0]
    return next((each for each in families().values() if first and each.ami_types == first), None)


def of_parameter(path: str) -> AmiFamily | None:
    """The family of an image that an SSM parameter names."""
    known = families().values()
    return next((each for each in known if any(part in path for part in each.parameters)), None)


def of_image_name(name: str) -> AmiFamily | None:
    """The family of an image of EKS, or of images with a `*`, by its name: that of the longest beginning."""
    named = name.lstrip("*")
    beginnings = {part: each for each in families().values() for part in each.image_names}
    fitting = [part for part in beginnings if named.startswith(part)]
    return beginnings[max(fitting, key=len)] if fitting else None


def driver_marks(resource: str) -> frozenset[str]:
    """The parts of EKS' names of images that say that an image has the driver of a resource."""
    marks = [family.drivers.get(resource) for family in families().values()]
    return frozenset(filter(None, marks))
