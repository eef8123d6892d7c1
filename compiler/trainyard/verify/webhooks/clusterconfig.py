"""ClusterConfig: what eksctl refuses before it calls AWS (eksctl v0.230.0,
pkg/apis/eksctl.io/v1alpha5/validation.go, pkg/ctl/cmdutils/configfile.go and pkg/vpc/vpc.go). Sizes are a policy's
matter (LIM012).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body, placeholder
from trainyard.verify.fault import Fault, Path, nearest, refused
from trainyard.verify.webhooks import Lookup

GROUP = "eksctl.io"
_FIELDS = ("managedNodeGroups", "nodeGroups")
_LEAST_ZONES = 2


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from _zones(body)
    has_accounts = value_at(body, "iam", "serviceAccounts")
    if has_accounts and value_at(body, "iam", "withOIDC") is not True:
        place = ("iam", "serviceAccounts")
        message = "service accounts need `withOIDC`"
        yield refused(place, message, "write `withOIDC: true`", key=True)
    groups = [
        (field, index, group)
        for field in _FIELDS
        for index, group in enumerate(mappings_at(body, field))
    ]
    if groups and value_at(body, "autoModeConfig", "enabled") is True:
        yield refused(
            (groups[0][0],),
            "a cluster with Auto Mode is not created with node groups",
            "add node groups later by `eksctl create nodegroup`, or write `enabled: false`",
            key=True,
        )
    if value_at(body, "autoModeConfig") is not None:
        yield from _auto_mode(body)
    names = set()
    for field, index, group in groups:
        path = (field, index)
        name = group.get("name")
        if name in names:
            message = f"a second node group `{name}`"
            yield refused((*path, "name"), message, "rename one of them")
        names.add(name)
        yield from _group(path, group)
        yield from _subnets((*path, "subnets"), group, body)


# eksctl v0.230.0, known_addons.go: default add-ons that are not default with Auto Mode
_CORE_NETWORKING = ("vpc-cni", "kube-proxy", "coredns")
_POOLS = ("general-purpose", "system")


def _auto_mode(body: Body) -> Iterator[Fault]:
    """pkg/apis/eksctl.io/v1alpha5/auto_mode.go, and pkg/ctl/cmdutils/configfile.go of add-ons and associations."""
    here: Path = ("autoModeConfig",)
    config = value_at(body, "autoModeConfig")
    enabled = value_at(config, "enabled") is True
    pools = value_at(config, "nodePools")
    named = [
        field for field in ("nodeRoleARN", "permissionsBoundaryARN") if value_at(config, field)
    ]
    if not enabled:
        others = list(named)
        if pools:
            others.append("nodePools")
        if others:
            message = f"`{others[0]}` is set while Auto Mode is off"
            yield refused((*here, others[0]), message, "remove it", key=True)
        return
    if value_at(body, "outpost") is not None:
        message = "a cluster on Outposts has no Auto Mode"
        yield refused((*here, "enabled"), message, "write `enabled: false`")
    if pools == [] and named:
        message = f"`{named[0]}` is set without node pools"
        yield refused((*here, named[0]), message, "remove it", key=True)
    listed_pools = pools if isinstance(pools, list) else ()
    for index, pool in enumerate(listed_pools):
        name = str(pool)
        if pool not in _POOLS and not placeholder(name):
            help = nearest(str(pool), _POOLS, "write `general-purpose` or `system`")
            message = f"EKS brings no node pool `{pool}`"
            yield refused((*here, "nodePools", index), message, help)
        elif pool in pools[:index]:
            message = f"node pool `{pool}` is named twice"
            yield refused((*here, "nodePools", index), message, "remove one of them")
    yield from _without_core_networking(body)


def _without_core_networking(body: Body) -> Iterator[Fault]:
    """Nodes of Auto Mode have network and DNS; only Fargate and hybrid nodes need the add-ons."""
    if mappings_at(body, "fargateProfiles"):
        return
    if value_at(body, "remoteNetworkConfig") is not None:
        return
    for index, addon in enumerate(mappings_at(body, "addons")):
        if addon.get("name") in _CORE_NETWORKING:
            yield refused(
                ("addons", index, "name"),
                f"a cluster with Auto Mode is not created with add-on `{addon['name']}`",
                "remove it: nodes of Auto Mode have it",
            )


def _zones(body: Body) -> Iterator[Fault]:
    path: Path = ("availabilityZones",)
    zones = value_at(body, "availabilityZones")
    if isinstance(zones, list):
        count = len(zones)
    else:
        count = 0
    if 0 < count < _LEAST_ZONES:
        help = "name two zones; node groups may keep to one"
        yield refused(path, "a cluster of one zone", help)
    if zones and value_at(body, "vpc", "subnets"):
        message = "`availabilityZones` is set together with `vpc.subnets`"
        yield refused(path, message, "keep one", key=True)


def _group(path: Path, group: Body) -> Iterator[Fault]:
    for one, other in (("instanceType", "instanceTypes"), ("subnets", "availabilityZones")):
        if group.get(one) and group.get(other):
            yield refused(
                (*path, other), f"`{one}` is set together with `{other}`", "keep one", key=True
            )
    if "placement" in group and not value_at(group, "placement", "groupName"):
        yield refused(
            (*path, "placement"), "a placement without `groupName`", "name the group", key=True
        )
    yield from _capacity(path, group)
    update = group.get("updateConfig")
    if (
        isinstance(update, dict)
        and len({"maxUnavailable", "maxUnavailablePercentage"} & set(update)) != 1
    ):
        yield refused(
            (*path, "updateConfig"),
            "one of `maxUnavailable` and `maxUnavailablePercentage` is needed",
            "keep one",
            key=True,
        )


def _subnets(path: Path, group: Body, body: Body) -> Iterator[Fault]:
    """A subnet is one of ``vpc.subnets``, by its key or its id, or an id that EC2 is asked for (pkg/vpc)."""
    known: dict[str, Any] = {}
    for side in ("private", "public"):
        subnets = value_at(body, "vpc", "subnets", side)
        if isinstance(subnets, dict):
            for key, subnet in subnets.items():
                known[str(key)] = subnet
    if not known:
        return
    ids = {value_at(subnet, "id") for subnet in known.values()}
    named = value_at(group, "subnets") or ()
    for index, name in enumerate(named):
        if name in known or name in ids:
            continue
        if not name.startswith("subnet-") and not placeholder(name):
            message = f"`vpc.subnets` has no subnet `{name}`"
            yield refused((*path, index), message, nearest(name, known))


def _capacity(path: Path, group: Body) -> Iterator[Fault]:
    target = value_at(group, "capacityReservation", "capacityReservationTarget")
    preference = value_at(group, "capacityReservation", "capacityReservationPreference")
    here = (*path, "capacityReservation")
    if preference is not None and target is not None:
        yield refused(
            (*here, "capacityReservationPreference"),
            "a preference is set together with a target",
            "keep one",
            key=True,
        )
    elif preference not in (None, "open", "none"):
        yield refused(
            (*here, "capacityReservationPreference"),
            f"`{preference}` is no preference",
            "write `open` or `none`, or name the reservation as target",
        )
    if isinstance(target, dict) and {
        "capacityReservationID",
        "capacityReservationResourceGroupARN",
    } <= set(target):
        yield refused(
            (*here, "capacityReservationTarget"),
            "a reservation is set together with a group of them",
            "keep one",
            key=True,
        )
    market = value_at(group, "instanceMarketOptions", "marketType")
    if market not in (None, "capacity-block"):
        yield refused(
            (*path, "instanceMarketOptions", "marketType"),
            f"`{market}` is no market type",
            "write `capacity-block`",
        )
