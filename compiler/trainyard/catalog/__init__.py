"""Dated facts: EC2 instance types, regions and zones, upstream releases, Xid codes. Facts only, no opinions."""

from trainyard.catalog.capacity import (
    GUIDE_HUGE_PAGES_MIB,
    Allocatable,
    Step,
    allocatable,
    huge_pages_mib,
    max_pods,
)
from trainyard.catalog.catalog import Catalog, Source, load_catalog
from trainyard.catalog.instance import InstanceType, NetworkCard
from trainyard.catalog.release import Chart, Release, version_key
from trainyard.catalog.upgrades import BLOCKED, MANUAL, SAFE, UNKNOWN, VersionStep
from trainyard.catalog.xid import XidList, XidTable

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
