"""Availability Zones: zone names differ between accounts in some Regions, zone ids do not.

`us-east-1a` of one account need not be that of another; `use1-az4` is one place for all (AWS Regions and Availability
Zones, AZ IDs, read 2026-11-22). The built-in catalog has the names of the account whose answers moto stores;
its offerings by id (the same answers by ``LocationType=availability-zone-id``) say which zone each is.
"""

from __future__ import annotations

INDEPENDENT = frozenset(
    (
        "us-east-1",
        "us-west-1",
        "us-west-2",
        "ap-southeast-1",
        "ap-southeast-2",
        "ap-northeast-1",
        "eu-west-1",
        "sa-east-1",
        "us-gov-west-1",
    )
)
"""Regions in which each account has names of its own. All others have the same for every account (the same page)."""

WITHOUT_EKS = frozenset(("use1-az3", "usw1-az2", "cac1-az3"))
"""Zones in which EKS takes no subnet of a cluster (EKS user guide, network-reqs, read 2026-11)."""
