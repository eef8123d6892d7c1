"""Dated facts: EC2 instance types, regions and zones, upstream releases, Xid codes. Facts only, no opinions."""

from compiler.catalog.capacity import (
    GUIDE_HUGE_PAGES_MIB,
    Allocatable,
    Step,
    allocatable,
    huge_pages_mib,
    max_pods,
)
from compiler.catalog.catalog import Catalog, Source, load_catalog
from compiler.catalog.instance import InstanceType, NetworkCard
from compiler.catalog.release import Chart, Release, version_key
from compiler.catalog.upgrades import BLOCKED, MANUAL, SAFE, UNKNOWN, VersionStep
from compiler.catalog.xid import XidList, XidTable

__all__ = [
    "BLOCKED",
    "GUIDE_HUGE_PAGES_MIB",
    "MANUAL",
    "SAFE",
    "UNKNOWN",
    "Allocatable",
    "Catalog",
    "Chart",
    "InstanceType",
    "NetworkCard",
    "Release",
    "Source",
    "Step",
    "VersionStep",
    "XidList",
    "XidTable",
    "allocatable",
    "huge_pages_mib",
    "load_catalog",
    "max_pods",
    "version_key",
]
