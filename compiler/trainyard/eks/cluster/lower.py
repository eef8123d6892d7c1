"""Lower: eksctl's ClusterConfig (eksctl 0.230.0, v1alpha5). Run by people or CI, never read by Flux."""

from __future__ import annotations

import json
from collections.abc import Iterator

from trainyard.eks.cluster.plan import AccessEntry, Addon, Bootstrap, Cluster, PodIdentity
from trainyard.eks.network.plan import Network
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.eks.nodes.user_data import boot_script
from trainyard.output.artifact import PART, Places
from trainyard.output.lowering.body import fields_given, taint_bodies
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

NODE_GROUPS = "bootstrap/nodegroups"


def lower(plan: Plan) -> Iterator[Manifest]:
    """The ClusterConfig of the cluster, and one for each node group that is a pool's."""
    cluster = plan.one(Cluster)
    bootstrap = plan.one(Bootstrap)
    if cluster is None:
        return
    yield Manifest(
        cluster_config(cluster),
        "bootstrap/eksctl.yaml",
        cluster.at,
        _origins(cluster),
        lists=(("vpc", "publicAccessCIDRs"),),
        choices={"availabilityZones": bootstrap.zones} if bootstrap else {},
        format="eksctl",
    )
    for group in plan.of(NodeGroup):
        yield Manifest(
            group_config(cluster, group),
            f"{NODE_GROUPS}/{group.name}.yaml",
            group.at,
            _group_origins(group),
            format="eksctl",
        )


def _group_origins(group: NodeGroup) -> Places:
    here = ("managedNodeGroups", 0)
    return {
        here: group.at,
        (*here, "instanceTypes"): group.where("instance_types"),
        (*here, "availabilityZones"): group.where("zones"),
        (*here, "minSize"): group.where("min_size"),
        (*here, "maxSize"): group.where("max_size"),
        (*here, "desiredCapacity"): group.where("desired"),
        (*here, "labels"): group.where("labels"),
        (*here, "taints"): group.where("taints"),
        (*here, "efaEnabled"): group.where("efa"),
        (*here, "placement"): group.where("placement_group"),
        (*here, "capacityReservation"): group.where("reservation"),
        (*here, "volumeSize"): group.where("volume"),
        (*here, "nodeRepairConfig"): group.where("repair"),
    }


def group_config(cluster: Cluster, group: NodeGroup) -> Body:
    """eksctl.io/v1alpha5 ClusterConfig for `eksctl create nodegroup`: eksctl takes the rest from the cluster's stack.

    An annotation, which eksctl ignores, says that it describes no cluster.
    """
    return {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": {
            "name": cluster.name,
            "region": cluster.region,
            "version": cluster.kubernetes,
            # Its instances, their volumes and its stack get these (eksctl v0.230.0, managed_launch_template.go).
            **fields_given(tags=dict(group.tags)),
            "annotations": {PART: group.name},
        },
        "managedNodeGroups": [_group(group)],
    }


def _origins(cluster: Cluster) -> Places:
    places: Places = {
        ("metadata", "region"): cluster.where("region"),
        ("metadata", "version"): cluster.where("kubernetes"),
        ("vpc",): cluster.where("network"),
        ("vpc", "cidr"): cluster.network.where("cidr"),
        ("vpc", "publicAccessCIDRs"): cluster.network.where("public_cidrs"),
        ("availabilityZones",): cluster.where("network"),
        ("accessConfig",): cluster.where("access"),
        ("addons",): cluster.where("addons"),
        ("autoModeConfig",): cluster.where("auto_mode"),
    }
    for index, addon in enumerate(cluster.addons):
        origin = cluster.where("addons")
        places["addons", index] = origin / addon.name
    for index, group in enumerate(cluster.node_groups):
        places["managedNodeGroups", index] = group.at
    return places


def cluster_config(cluster: Cluster) -> Body:
    """eksctl.io/v1alpha5 ClusterConfig. Without `karpenter:` (its queue stays unused) and without `gitops:`."""
    network = cluster.network
    metadata = {
        "name": cluster.name,
        "region": cluster.region,
        "version": cluster.kubernetes,
        "tags": dict(cluster.tags),
    }
    identities = [_identity(identity) for identity in cluster.pod_identities]
    access: Body = {"authenticationMode": "API"}
    if cluster.access:
        access["accessEntries"] = [_entry(entry) for entry in cluster.access]
    addons = [_addon(addon) for addon in cluster.addons]
    groups = [_group(group) for group in cluster.node_groups]
    logging = fields_given(enableTypes=list(cluster.log_types), logRetentionInDays=cluster.log_days)
    sections = fields_given(
        vpc=_vpc(network),
        availabilityZones=list(network.zones) if network.vpc is None else None,
        iam=fields_given(withOIDC=True, podIdentityAssociations=identities),
        accessConfig=access,
        addonsConfig={"disableDefaultAddons": True},
        addons=addons,
        managedNodeGroups=groups,
        cloudWatch=fields_given(clusterLogging=logging),
        autoModeConfig=_auto_mode(cluster),
    )
    return {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": metadata,
        **sections,
    }


def _auto_mode(cluster: Cluster) -> Body:
    """EKS Auto Mode: whether, and the node pools that EKS brings with the role of their nodes. An empty list of them
    means none, and is written."""
    pools = cluster.auto_pools
    if pools is None:
        named = {}
    else:
        named = {"nodePools": list(pools)}
    return {
        "enabled": cluster.auto_mode,
        **named,
        **fields_given(nodeRoleARN=cluster.auto_node_role),
    }


def _vpc(network: Network) -> Body:
    endpoints = {"publicAccess": network.public_endpoint, "privateAccess": network.private_endpoint}
    subnets: Body = {}
    for subnet in network.subnets:
        side = subnets.setdefault("public" if subnet.public else "private", {})
        named = fields_given(id=subnet.id or None, cidr=subnet.cidr)
        if subnet.zone in side:
            # eksctl v0.230.0, pkg/vpc: any key, where `az` says the zone
            side[subnet.id] = {"az": subnet.zone, **named}
        else:
            side[subnet.zone] = named
    if network.vpc is None:
        nat = {"gateway": "HighlyAvailable"}
    else:
        nat = None
    return fields_given(
        id=network.vpc,
        cidr=network.cidr,
        nat=nat,
        subnets=subnets,
        clusterEndpoints=endpoints,
        publicAccessCIDRs=list(network.public_cidrs),
    )


def _identity(identity: PodIdentity) -> Body:
    return fields_given(
        namespace=identity.namespace,
        serviceAccountName=identity.service_account,
        roleARN=identity.role_arn,
        permissionPolicyARNs=list(identity.policy_arns),
    )


def _entry(entry: AccessEntry) -> Body:
    return {"principalARN": entry.principal, "type": entry.type}


def _own_policy(addon: Addon) -> Body | None:
    if not addon.rights:
        return None
    return {"Version": "2012-10-17", "Statement": [dict(item) for item in addon.rights]}


def _addon(addon: Addon) -> Body:
    identities = []
    if addon.service_account:
        namespace, name = addon.service_account
        identities.append(
            {
                "namespace": namespace,
                "serviceAccountName": name,
                "permissionPolicyARNs": list(addon.policy_arns),
                **fields_given(permissionPolicy=_own_policy(addon)),
            }
        )
    values = None
    if addon.values:
        values = json.dumps(dict(addon.values), sort_keys=True)
    return fields_given(
        name=addon.name,
        version=addon.version,
        configurationValues=values,
        podIdentityAssociations=identities,
    )


def _group(group: NodeGroup) -> Body:
    assert group.managed, "groups of eksctl's `nodeGroups` are read, and none is written"
    return fields_given(
        name=group.name,
        instanceTypes=list(group.instance_types),
        amiFamily=group.ami_family,
        releaseVersion=group.ami_release,
        minSize=group.min_size,
        maxSize=group.max_size,
        desiredCapacity=group.desired,
        privateNetworking=group.private,
        volumeSize=group.volume,
        volumeEncrypted=group.encrypted,
        volumeType="gp3" if group.volume_iops or group.volume_throughput else None,
        volumeIOPS=group.volume_iops,
        volumeThroughput=group.volume_throughput,
        availabilityZones=list(group.zones),
        spot=group.spot or None,
        efaEnabled=group.efa or None,
        placement=fields_given(groupName=group.placement_group),
        capacityReservation=_reservation(group),
        instanceMarketOptions=fields_given(marketType=_market(group)),
        securityGroups=fields_given(attachIDs=list(group.security_groups)),
        labels=dict(group.labels),
        taints=taint_bodies((*group.taints, *group.startup_taints)),
        preBootstrapCommands=_commands(group),
        overrideBootstrapCommand=_node_config(group),
        nodeRepairConfig=dict(group.repair_config) or {"enabled": group.repair},
    )


def _reservation(group: NodeGroup) -> Body:
    if group.reservation is None:
        return {}
    target = {"capacityReservationID": group.reservation}
    return {"capacityReservationTarget": target}


def _market(group: NodeGroup) -> str | None:
    return "capacity-block" if group.capacity_block else None


def _commands(group: NodeGroup) -> list[str]:
    """What nodes run when they boot; eksctl makes a part of the user data of it."""
    script = boot_script(group.boot)
    if not script:
        return []
    return [script]


def _node_config(group: NodeGroup) -> str | None:
    """nodeadm's NodeConfig, which eksctl adds to the user data of AL2023 nodes (eksctl v0.230.0, al2023.go).

    Its disks: `instance.localStorage` (awslabs/amazon-eks-ami, nodeadm/doc/api.md).
    """
    if not group.local_storage:
        return None
    config = {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {"instance": {"localStorage": {"strategy": group.local_storage}}},
    }
    return json.dumps(config)
