"""Lift: eksctl's ClusterConfig."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.catalog.ami_families import of_eksctl
from trainyard.core.cloud.plan import AccessEntryStack, ControlPlane
from trainyard.core.launch.plan import BootScript
from trainyard.eks.cluster.plan import AccessEntry, Addon, Cluster, PodIdentity
from trainyard.eks.network.plan import Network, Subnet
from trainyard.eks.nodes.lift import boot_of, scripts
from trainyard.eks.nodes.plan import Boot, NodeGroup
from trainyard.language.places import Route
from trainyard.lift.pods import taints
from trainyard.lift.reader import Reader, embedded, name_of
from trainyard.output.artifact import part_of
from trainyard.output.body import value_at
from trainyard.plan.base import PlanItem
from trainyard.plan.scheduling import Taint


def cluster_config(body: Reader) -> Iterator[PlanItem]:
    """ClusterConfig. Outposts have no Auto Mode (eksctl v0.230.0, ValidateAutoModeConfig).

    One of our own for a pool has node groups, and describes no cluster.
    """
    metadata = body / "metadata"
    subnets = _subnets(body)
    if part_of(metadata.mapping()):
        tags = (metadata / "tags").strings()
        for group in _groups(body, _zones(subnets)):
            yield replace(group, tags=tags)
        return
    listed = (body / "addons").items()
    addons = [_addon(addon) for addon in listed]
    identities = body.follow("iam", "podIdentityAssociations")
    pod_identities = [_identity(identity) for identity in identities.items()]
    entries = body.follow("accessConfig", "accessEntries")
    access = [_entry(entry) for entry in entries.items()]
    for entry, known in zip(entries.items(), access, strict=True):
        yield AccessEntryStack(
            at=entry.at,
            logical="",
            principal=known.principal,
            groups=known.groups,
            origins={"groups": (entry / "kubernetesGroups").at},
        )
    auto_mode = body.follow("autoModeConfig", "enabled").flag()
    if body / "outpost":
        auto_mode = False
    pools = body.follow("autoModeConfig", "nodePools")
    if pools.value is not None:
        auto_pools = pools.texts()
    else:
        auto_pools = None
    nodes = tuple(subnet for _, subnet in subnets)
    network = _network(body, nodes)
    yield ControlPlane(
        at=body.at,
        logical="",
        name=name_of(body),
        kubernetes=(metadata / "version").word(),
        public=network.public_endpoint,
        public_cidrs=network.public_cidrs,
        origins={
            "kubernetes": (metadata / "version").at,
            "public": network.where("public_endpoint"),
            "public_cidrs": network.where("public_cidrs"),
        },
    )
    yield Cluster(
        at=body.at,
        name=name_of(body),
        region=(metadata / "region").word(),
        kubernetes=(metadata / "version").word(),
        network=network,
        tags=(metadata / "tags").strings(),
        addons=tuple(addons),
        pod_identities=tuple(pod_identities),
        access=tuple(access),
        node_groups=tuple(_groups(body, _zones(subnets))),
        auto_mode=auto_mode,
        auto_pools=auto_pools,
        auto_node_role=body.follow("autoModeConfig", "nodeRoleARN").text(),
        log_types=body.follow("cloudWatch", "clusterLogging", "enableTypes").texts(),
        log_days=body.follow("cloudWatch", "clusterLogging", "logRetentionInDays").integer(),
        origins={
            "region": (metadata / "region").at,
            "kubernetes": (metadata / "version").at,
            "access": entries.at,
            "addons": (body / "addons").at,
            "auto_mode": (body / "autoModeConfig").at,
        },
    )


def _groups(body: Reader, zones: Mapping[str, str]) -> Iterator[NodeGroup]:
    for group in (body / "managedNodeGroups").items():
        yield _group(group, zones, managed=True)
    for group in (body / "nodeGroups").items():
        yield _group(group, zones, managed=False)


def _network(body: Reader, subnets: tuple[Subnet, ...]) -> Network:
    vpc = body / "vpc"
    endpoints = vpc / "clusterEndpoints"
    return Network(
        at=vpc.at,
        cidr=(vpc / "cidr").text(),
        zones=(body / "availabilityZones").texts(),
        vpc=(vpc / "id").text(),
        subnets=subnets,
        public_endpoint=(endpoints / "publicAccess").flag(),
        origins={
            "zones": (body / "availabilityZones").at,
            "public_cidrs": (vpc / "publicAccessCIDRs").at,
            "public_endpoint": endpoints.at,
        },
        private_endpoint=bool((endpoints / "privateAccess").flag()),
        public_cidrs=(vpc / "publicAccessCIDRs").texts(),
        fully_private=body.follow("privateCluster", "enabled").flag() is True,
    )


def _subnets(body: Reader) -> list[tuple[str, Subnet]]:
    """Every subnet with its key, which is its zone unless that is said."""
    subnets = []
    for side in ("private", "public"):
        for key, subnet in body.follow("vpc", "subnets", side).entries():
            node = Subnet(
                at=subnet.at,
                zone=(subnet / "az").text() or key,
                id=(subnet / "id").word(),
                public=side == "public",
                cidr=(subnet / "cidr").text(),
            )
            subnets.append((key, node))
    return subnets


def _zones(subnets: list[tuple[str, Subnet]]) -> dict[str, str]:
    """The zone of each subnet by its key and by its id, as node groups name them (eksctl v0.230.0, pkg/vpc); a key that
    is no zone leaves it to EC2."""
    zones = {}
    for key, subnet in subnets:
        if re.match(_ZONE, subnet.zone):
            zones[key] = subnet.zone
            zones[subnet.id or key] = subnet.zone
    return zones


_ZONE = r"[a-z]{2}(-[a-z]+){1,2}-[0-9][a-z]\Z"


def _addon(body: Reader) -> Addon:
    identity = body.follow("podIdentityAssociations", 0)
    account = None
    if identity:
        namespace = identity / "namespace"
        name = identity / "serviceAccountName"
        account = (namespace.word(), name.word())
    return Addon(
        name=(body / "name").word(),
        version=(body / "version").text(),
        values=_values(body / "configurationValues"),
        service_account=account,
        policy_arns=(identity / "permissionPolicyARNs").texts(),
        rights=_rights(identity / "permissionPolicy"),
    )


def _rights(policy: Reader) -> tuple[dict[str, Any], ...]:
    statements = [item.value for item in (policy / "Statement").items()]
    return tuple(item for item in statements if isinstance(item, dict))


def _values(body: Reader) -> dict[str, Any]:
    """JSON or YAML (eksctl v0.230.0)."""
    text = body.word()
    values = embedded(text) if text else {}
    if isinstance(values, dict):
        return values
    return {}


def _identity(body: Reader) -> PodIdentity:
    return PodIdentity(
        (body / "namespace").word(),
        (body / "serviceAccountName").word(),
        (body / "permissionPolicyARNs").texts(),
        (body / "roleARN").text(),
    )


def _entry(body: Reader) -> AccessEntry:
    return AccessEntry(
        (body / "principalARN").word(),
        (body / "type").text() or "STANDARD",
        body.follow("accessPolicies", 0, "policyARN").text(),
        (body / "kubernetesGroups").texts(),
    )


def _zones_of_group(body: Reader, subnets: Mapping[str, str]) -> tuple[tuple[str, ...], Route]:
    """The zones of a node group, as it names them or its subnets, and where that is."""
    named = body / "availabilityZones"
    chosen = body / "subnets"
    names = chosen.texts()
    if not names:
        return named.texts(), named.at
    if any(name not in subnets for name in names):
        return named.texts(), chosen.at
    of_subnets = (subnets[name] for name in names)
    return tuple(dict.fromkeys(of_subnets)), chosen.at


def _has_own_kubelet(body: Reader, boot: Boot) -> bool:
    """Whether a group configures the kubelet, or the system by commands other than ours."""
    of_kubelet = [key for key in _OWN_KUBELET if body / key]
    if boot.runs:
        of_kubelet.remove("preBootstrapCommands")
    return bool(of_kubelet)


def _group(body: Reader, subnets: Mapping[str, str], *, managed: bool) -> NodeGroup:
    """``subnets`` are zones by the key or id of their subnet."""
    zones, zones_at = _zones_of_group(body, subnets)
    types, types_at = _instance_types(body)
    market = body.follow("instanceMarketOptions", "marketType")
    target = body.follow(
        "capacityReservation", "capacityReservationTarget", "capacityReservationID"
    )
    config = _local_storage(body / "overrideBootstrapCommand")
    commands = (body / "preBootstrapCommands").texts()
    boot = Boot()
    if len(commands) == 1:
        boot = boot_of(commands[0])
    all_taints = _taints(body / "taints")
    family = None
    if not (body / "ami").value:
        family = of_eksctl((body / "amiFamily").word() or _DEFAULT_FAMILY)
    imds = body / "disableIMDSv1"
    return NodeGroup(
        at=body.at,
        name=(body / "name").word(),
        instance_types=types,
        managed=managed,
        zones=zones,
        min_size=(body / "minSize").integer(),
        max_size=(body / "maxSize").integer(),
        desired=(body / "desiredCapacity").integer(),
        ami_family=(body / "amiFamily").text(),
        ami_release=(body / "releaseVersion").text(),
        private=(body / "privateNetworking").flag(),
        volume=(body / "volumeSize").integer(),
        encrypted=(body / "volumeEncrypted").flag(),
        labels=(body / "labels").strings(),
        taints=tuple(taint for taint in all_taints if not _of_an_agent(taint)),
        startup_taints=tuple(filter(_of_an_agent, all_taints)),
        efa=bool((body / "efaEnabled").flag()),
        placement_group=body.follow("placement", "groupName").text(),
        reservation=target.text(),
        unread=_unread_reservation(body),
        capacity_block=market.value == "capacity-block",
        repair=body.follow("nodeRepairConfig", "enabled").flag(),
        repair_config=_repair_config(body / "nodeRepairConfig"),
        own_kubelet=_has_own_kubelet(body, boot) or config is None,
        boot=boot,
        spot=bool((body / "spot").flag()),
        volume_iops=(body / "volumeIOPS").integer(),
        volume_throughput=(body / "volumeThroughput").integer(),
        security_groups=body.follow("securityGroups", "attachIDs").texts(),
        local_storage=config or "",
        image=family.alias if family is not None else "",
        own_image=bool(body / "ami" or body / "launchTemplate"),
        scripts=_commands(body),
        http_tokens=_TOKENS.get(imds.value) if imds.flag() is not None else None,
        origins={
            "http_tokens": imds.at,
            "capacity_block": (body / "instanceMarketOptions").at,
            "instance_types": types_at,
            "labels": (body / "labels").at,
            "boot": (body / "preBootstrapCommands").at,
            "taints": (body / "taints").at,
            "max_size": (body / "maxSize").at,
            "desired": (body / "desiredCapacity").at,
            "ami_family": (body / "amiFamily").at,
            "efa": (body / "efaEnabled").at,
            "zones": zones_at,
            "placement_group": (body / "placement").at,
            "volume": (body / "volumeSize").at,
            "repair": (body / "nodeRepairConfig").at,
            "reservation": target.at,
        },
    )


_DEFAULT_FAMILY = "AmazonLinux2023"
"""What eksctl boots where a group does not say (eksctl v0.230.0)."""
_TOKENS = {True: "required", False: "optional"}


def _unread_reservation(body: Reader) -> frozenset[str]:
    """Whether a group names its reservation otherwise than by id."""
    target = body.follow("capacityReservation", "capacityReservationTarget")
    is_open = bool(target.value) and not (target / "capacityReservationID").text()
    return frozenset({"reservation"}) if is_open else frozenset()


def _commands(body: Reader) -> tuple[BootScript, ...]:
    """What nodes of a group run: in place of EKS' own script, and before it."""
    return scripts(body / "overrideBootstrapCommand", *(body / "preBootstrapCommands").items())


def _instance_types(body: Reader) -> tuple[tuple[str, ...], Route]:
    """The types of a group's nodes, and their place."""
    single = (body / "instanceType").text()
    if single and single != "mixed":
        return (single,), (body / "instanceType").at
    mixed = body.follow("instancesDistribution", "instanceTypes")
    several = mixed or body / "instanceTypes"
    return several.texts(), several.at


_OWN_KUBELET = (
    "kubeletExtraConfig",
    "maxPodsPerNode",
    "preBootstrapCommands",
    "launchTemplate",
    "bottlerocket",
)


def _local_storage(command: Reader) -> str | None:
    """The strategy for NVMe disks of a NodeConfig that says nothing else, empty without any; ``None`` where there is
    another one, or a script."""
    if not command:
        return ""
    read = _values(command)
    strategy = value_at(read, "spec", "instance", "localStorage", "strategy")
    expected = {"instance": {"localStorage": {"strategy": strategy}}}
    if strategy and read["spec"] == expected:
        return str(strategy)
    return None


def _repair_config(body: Reader) -> dict[str, Any]:
    """Its settings other than its switch."""
    config = body.mapping()
    if set(config) - {"enabled"}:
        return dict(config)
    return {}


def _taints(body: Reader) -> tuple[Taint, ...]:
    """A list, or ``key: value:Effect`` as self-managed groups may have it."""
    listed = taints(body)
    if listed:
        return listed
    by_key = []
    for key, entry in body.entries():
        value, _, effect = entry.word().rpartition(":")
        by_key.append(Taint(key, value, effect))
    return tuple(by_key)


def _of_an_agent(taint: Taint) -> bool:
    """Whether an agent takes a taint off once it is ready: Cilium and the CSI drivers of AWS call theirs so (cilium
    v1.20.2, installation/taints.rst; aws-ebs-csi-driver v1.63, docs/install.md)."""
    return taint.key.endswith("/agent-not-ready")


KINDS = {"eksctl.io/ClusterConfig": cluster_config}
