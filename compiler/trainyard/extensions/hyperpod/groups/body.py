"""An item of ``InstanceGroups`` for each instance group, in the request that makes or changes the cluster."""

from __future__ import annotations

from typing import Any

from trainyard.catalog.hyperpod import ml_name
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup, own_labels
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.plan.scheduling import Taint
from trainyard.verify.fault import Path


def places(group: InstanceGroup, at: Path) -> Places:
    """Where in the spec its keys come from."""
    keys = {
        ("InstanceType",): "instance_types",
        ("InstanceCount",): "limits",
        ("KubernetesConfig", "Labels"): "labels",
        ("KubernetesConfig", "Taints"): "taints",
        ("InstanceStorageConfigs",): "volume",
        ("OnStartDeepHealthChecks",): "checks",
        ("TrainingPlanArn",): "plan",
        ("ThreadsPerCore",): "threads",
        ("CapacityRequirements",): "capacity_types",
        ("OverrideVpcConfig", "Subnets"): "subnets",
    }
    return {at: group.at, **{(*at, *key): group.where(field) for key, field in keys.items()}}


def body(group: InstanceGroup) -> dict[str, Any]:
    """An item of ``InstanceGroups``."""
    types = [ml_name(name) for name in group.instance_types or ()]
    labels = {
        key: value for key, value in group.labels.items() if key not in own_labels(group.name)
    }
    is_spot = group.capacity_types == ("spot",)
    disks = None
    if group.volume is not None:
        disks = [{"EbsVolumeConfig": {"VolumeSizeInGB": group.volume}}]
    network = {"SecurityGroupIds": list(group.security_groups), "Subnets": list(group.subnets)}
    return fields_given(
        InstanceGroupName=group.name,
        InstanceType=types[0],
        InstanceCount=group.replicas,
        ExecutionRole=group.role,
        LifeCycleConfig=fields_given(SourceS3Uri=group.scripts, OnCreate=group.on_create),
        OnStartDeepHealthChecks=list(group.checks) or None,
        TrainingPlanArn=group.plan,
        ThreadsPerCore=group.threads,
        InstanceStorageConfigs=disks,
        OverrideVpcConfig=network if group.subnets else None,
        CapacityRequirements={"Spot": {}} if is_spot else None,
        KubernetesConfig=fields_given(
            Labels=labels or None, Taints=[_taint(taint) for taint in group.taints] or None
        ),
    )


def _taint(taint: Taint) -> dict[str, Any]:
    return fields_given(Key=taint.key, Value=taint.value or None, Effect=taint.effect)
