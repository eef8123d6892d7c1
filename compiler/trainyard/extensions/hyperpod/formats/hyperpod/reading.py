"""Requests of HyperPod read back: the cluster, its instance groups as pools, and task governance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.catalog.hyperpod import ec2_name
from trainyard.extensions.hyperpod.cluster.plan import HyperPodCluster
from trainyard.extensions.hyperpod.formats.hyperpod.governance import policy, quota, tags_of
from trainyard.extensions.hyperpod.formats.hyperpod.structure import (
    CLUSTER,
    COMPUTE_QUOTA,
    GROUP,
    SCHEDULER_CONFIG,
)
from trainyard.extensions.hyperpod.formats.hyperpod.whole import Whole
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup, own_labels
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, Requirement, Taint
from trainyard.verify.whole import Part


def nodes(whole: Whole) -> Iterator[PlanItem]:
    """What a request says of the cluster, of pools, and of teams."""
    root = Part(whole, ())
    if whole.kind == COMPUTE_QUOTA:
        yield from quota(root)
    if whole.kind == SCHEDULER_CONFIG:
        yield from policy(root)
    if whole.kind == CLUSTER:
        yield _cluster(root)
        groups = list(root.items("InstanceGroups"))
    elif whole.kind == GROUP:
        groups = [root]
    else:
        return
    for group in groups:
        name = group.text("InstanceGroupName")
        if name:
            yield _group(group, name)


def _cluster(root: Part) -> HyperPodCluster:
    return HyperPodCluster(
        at=root.at(),
        name=root.text("ClusterName") or "",
        eks=root.text("Orchestrator", "Eks", "ClusterArn"),
        slurm=root.get("Orchestrator", "Slurm") is not None,
        recovery=root.text("NodeRecovery"),
        subnets=root.ids("VpcConfig", "Subnets"),
        security_groups=root.ids("VpcConfig", "SecurityGroupIds"),
        tags=tags_of(root),
        origins={
            "recovery": root.at("NodeRecovery"),
            "subnets": root.at("VpcConfig"),
            "security_groups": root.at("VpcConfig"),
            "tags": root.at("Tags"),
        },
    )


def _group(group: Part, name: str) -> InstanceGroup:
    types = _types(group)
    count = group.number("InstanceCount")
    plan = group.text("TrainingPlanArn")
    capacity = "reserved" if plan else "on-demand"
    if group.get("CapacityRequirements", "Spot") is not None:
        capacity = "spot"
    requirements = [Requirement(CAPACITY_TYPE, "In", (capacity,))]
    if types:
        requirements.insert(0, Requirement(INSTANCE_TYPE, "In", types))
    limits: Mapping[str, Quantity] = {} if count is None else {"nodes": Quantity.of(count)}
    labels = group.get("KubernetesConfig", "Labels")
    own = labels if isinstance(labels, dict) else {}
    volumes = [
        config.number("EbsVolumeConfig", "VolumeSizeInGB")
        for config in group.items("InstanceStorageConfigs")
    ]
    at_type = group.at("InstanceType")
    if group.text("InstanceType") is None:
        at_type = group.at("InstanceRequirements")
    return InstanceGroup(
        at=group.at(),
        name=name,
        labels={**own_labels(name), **{key: str(value) for key, value in own.items()}},
        taints=tuple(map(_taint, group.items("KubernetesConfig", "Taints"))),
        requirements=tuple(requirements),
        limits=limits,
        replicas=count,
        least=count,
        efa=True,
        role=group.text("ExecutionRole") or "",
        scripts=group.text("LifeCycleConfig", "SourceS3Uri") or "",
        on_create=group.text("LifeCycleConfig", "OnCreate") or "",
        checks=group.ids("OnStartDeepHealthChecks"),
        plan=plan,
        threads=group.number("ThreadsPerCore"),
        volume=next((size for size in volumes if size is not None), None),
        subnets=group.ids("OverrideVpcConfig", "Subnets"),
        security_groups=group.ids("OverrideVpcConfig", "SecurityGroupIds"),
        origins={
            "limits": group.at("InstanceCount"),
            "replicas": group.at("InstanceCount"),
            "requirements": at_type,
            "instance_types": at_type,
            "capacity_types": group.at("CapacityRequirements"),
            "labels": group.at("KubernetesConfig", "Labels"),
            "taints": group.at("KubernetesConfig", "Taints"),
            "subnets": group.at("OverrideVpcConfig"),
            "zones": group.at("OverrideVpcConfig", "Subnets"),
            "volume": group.at("InstanceStorageConfigs"),
            "checks": group.at("OnStartDeepHealthChecks"),
            "plan": group.at("TrainingPlanArn"),
            "threads": group.at("ThreadsPerCore"),
        },
    )


def _types(group: Part) -> tuple[str, ...]:
    """The types of a group, by EC2's names."""
    one = group.text("InstanceType")
    several = group.ids("InstanceRequirements", "InstanceTypes")
    return tuple(ec2_name(name) for name in ((one,) if one else several))


def _taint(part: Part) -> Taint:
    return Taint(part.text("Key") or "", part.text("Value") or "", part.text("Effect") or "")
