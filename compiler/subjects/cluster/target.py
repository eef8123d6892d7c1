"""Target: eksctl's ClusterConfig (eksctl 0.230.0, v1alpha5). Run by people or CI, never read by Flux."""

from __future__ import annotations

import json
from collections.abc import Iterator

from compiler.manifest import Body, Manifest
from compiler.plan import Plan
from compiler.subjects.cluster.plan import (
    AccessEntry,
    Addon,
    Bootstrap,
    Cluster,
    Network,
    PodIdentity,
)
from compiler.subjects.pools.plan import NodeGroup
from compiler.targets.body import given, taints


def lower(plan: Plan) -> Iterator[Manifest]:
    """One ClusterConfig."""
    cluster, bootstrap = plan.one(Cluster), plan.one(Bootstrap)
    if cluster is not None:
        yield Manifest(
            cluster_config(cluster),
            "bootstrap/eksctl.yaml",
            cluster.at,
            {
                ("metadata", "region"): cluster.where("region"),
                ("vpc",): cluster.where("network"),
                ("vpc", "publicAccessCIDRs"): cluster.network.where("public_cidrs"),
                ("availabilityZones",): cluster.where("network"),
                ("accessConfig",): cluster.where("access"),
                ("addons",): cluster.where("addons"),
                **{
                    ("addons", index): cluster.where("addons") / addon.name
                    for index, addon in enumerate(cluster.addons)
                },
                **{
                    ("managedNodeGroups", index): group.at
                    for index, group in enumerate(cluster.node_groups)
                },
            },
            choices={"availabilityZones": bootstrap.zones} if bootstrap else {},
            format="eksctl",
        )


def cluster_config(cluster: Cluster) -> Body:
    """eksctl.io/v1alpha5 ClusterConfig. Without `karpenter:` (its queue stays unused) and without `gitops:`."""
    network = cluster.network
    return {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": {
            "name": cluster.name,
            "region": cluster.region,
            "version": cluster.kubernetes,
            "tags": dict(cluster.tags),
        },
        **given(
            vpc=_vpc(network),
            availabilityZones=list(network.zones) if network.vpc is None else None,
            iam={
                "withOIDC": True,
                "podIdentityAssociations": [
                    _identity(identity) for identity in cluster.pod_identities
                ],
            },
            accessConfig={
                "authenticationMode": "API",
                "accessEntries": [_entry(entry) for entry in cluster.access],
            },
            addonsConfig={"disableDefaultAddons": True},
            addons=[_addon(addon) for addon in cluster.addons],
            managedNodeGroups=[_group(group) for group in cluster.node_groups],
            cloudWatch={"clusterLogging": {"enableTypes": list(cluster.log_types)}}
            if cluster.log_types
            else None,
            autoModeConfig={"enabled": cluster.auto_mode}
            if cluster.auto_mode is not None
            else None,
        ),
    }


def _vpc(network: Network) -> Body:
    endpoints = {
        "publicAccess": network.public_endpoint,
        "privateAccess": network.private_endpoint,
    }
    subnets: Body = {}
    for subnet in network.subnets:
        side = subnets.setdefault("public" if subnet.public else "private", {})
        if (
            subnet.zone in side
        ):  # eksctl v0.230.0, pkg/vpc: any key, where `az` says the zone
            side[subnet.id] = {"az": subnet.zone, "id": subnet.id}
        else:
            side[subnet.zone] = {"id": subnet.id}
    nat = {"gateway": "HighlyAvailable"} if network.vpc is None else None
    return given(
        id=network.vpc,
        cidr=network.cidr,
        nat=nat,
        subnets=subnets,
        clusterEndpoints=endpoints,
        publicAccessCIDRs=list(network.public_cidrs),
    )


def _identity(identity: PodIdentity) -> Body:
    return given(
        namespace=identity.namespace,
        serviceAccountName=identity.service_account,
        roleARN=identity.role_arn,
        permissionPolicyARNs=list(identity.policy_arns),
    )


def _entry(entry: AccessEntry) -> Body:
    policies = (
        [{"policyARN": entry.policy, "accessScope": {"type": "cluster"}}]
        if entry.policy
        else []
    )
    return given(
        principalARN=entry.principal,
        type=entry.type,
        kubernetesGroups=list(entry.groups),
        accessPolicies=policies,
    )


def _addon(addon: Addon) -> Body:
    identity = (
        [
            {
                "namespace": addon.service_account[0],
                "serviceAccountName": addon.service_account[1],
                "permissionPolicyARNs": list(addon.policy_arns),
            }
        ]
        if addon.service_account
        else []
    )
    return given(
        name=addon.name,
        version=addon.version,
        configurationValues=json.dumps(dict(addon.values), sort_keys=True)
        if addon.values
        else None,
        podIdentityAssociations=identity,
    )


def _group(group: NodeGroup) -> Body:
    return given(
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
        availabilityZones=list(group.zones) if group.zones else None,
        labels=dict(group.labels),
        taints=taints(group.taints),
        nodeRepairConfig={"enabled": group.repair}
        if group.repair is not None
        else None,
    )
