"""Storage: file systems that exist, and the volumes through which pods mount them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from compiler.dataclass import dataclass
from compiler.plan.base import PlanNode
from compiler.plan.units import Quantity

LUSTRE_VERSION = "trainyard.dev/lustre-version"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentVolume(PlanNode):
    """A PersistentVolume for a file system given by id. ``zone`` pins it by node affinity where it has one.

    ``lustre`` is the version of an FSx for Lustre file system, as an annotation says it: no field of the API does.
    """

    name: str
    driver: str
    handle: str
    size: Quantity
    attributes: Mapping[str, str] = field(default_factory=dict)
    mount_options: tuple[str, ...] = ()
    access_modes: tuple[str, ...] = ("ReadWriteMany",)
    claim_namespace: str = ""
    claim_name: str = ""
    zone: str | None = None
    lustre: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeClaim(PlanNode):
    """A PersistentVolumeClaim. ``storage_class`` ``None`` is the cluster's default, and an empty one is none."""

    name: str
    namespace: str
    volume: str
    size: Quantity
    access_modes: tuple[str, ...] = ("ReadWriteMany",)
    storage_class: str | None = ""
