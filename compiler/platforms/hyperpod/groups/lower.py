"""Lower: each instance group, a part of the request that makes or changes the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.catalog.hyperpod import ml_name
from compiler.lowering.body import given
from compiler.output import Artifact
from compiler.output.artifact import Places
from compiler.plan import Plan
from compiler.plan.scheduling import Taint
from compiler.platforms.hyperpod.groups.plan import InstanceGroup, own_labels

FOLDER = "bootstrap/hyperpod"


def lower(plan: Plan) -> Iterator[Artifact]:
    """Each is a file of its own, so that two pools that come never meet."""
    for group in plan.of(InstanceGroup):
        yield _part(group)


def _part(group: InstanceGroup) -> Artifact:
    places: Places = {
        ("InstanceType",): group.where("instance_types"),
        ("InstanceCount",): group.where("limits"),
        ("KubernetesConfig", "Labels"): group.where("labels"),
        ("KubernetesConfig", "Taints"): group.where("taints"),
        ("InstanceStorageConfigs",): group.where("volume"),
        ("OnStartDeepHealthChecks",): group.where("checks"),
        ("TrainingPlanArn",): group.where("plan"),
        ("ThreadsPerCore",): group.where("threads"),
        ("CapacityRequirements",): group.where("capacity_types"),
        ("OverrideVpcConfig", "Subnets"): group.where("subnets"),
    }
    path = f"{FOLDER}/groups/{group.name}.json"
    return Artifact(body(group), path, group.at, places, format="hyperpod")


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
    return given(
        InstanceGroupName=group.name,
        InstanceType=types[0],
        InstanceCount=group.replicas,
        ExecutionRole=group.role,
        LifeCycleConfig=given(SourceS3Uri=group.scripts, OnCreate=group.on_create),
        OnStartDeepHealthChecks=list(group.checks) or None,
        TrainingPlanArn=group.plan,
        ThreadsPerCore=group.threads,
        InstanceStorageConfigs=disks,
        OverrideVpcConfig=network if group.subnets else None,
        CapacityRequirements={"Spot": {}} if is_spot else None,
        KubernetesConfig=given(
            Labels=labels or None, Taints=[_taint(taint) for taint in group.taints] or None
        ),
    )


def _taint(taint: Taint) -> dict[str, Any]:
    return given(Key=taint.key, Value=taint.value or None, Effect=taint.effect)
