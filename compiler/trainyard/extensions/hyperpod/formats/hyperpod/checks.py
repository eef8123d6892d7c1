"""What SageMaker refuses of several keys together, which no schema says.

Source: botocore 1.44.5, sagemaker/2017-07-24, documentation of the shapes ClusterInstanceGroupSpecification,
ClusterEbsVolumeConfig, ClusterLifeCycleConfig, ClusterOrchestrator and ClusterAutoScalingConfig; SageMaker developer
guide, sagemaker-hyperpod-eks-autoscaling.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.hyperpod.formats.hyperpod.structure import CLUSTER, GROUP, instance_types
from trainyard.language.diagnostics.near import name_meant
from trainyard.output.body import indexed, value_at
from trainyard.output.manifest import placeholder
from trainyard.verify.fault import WEBHOOK, Fault, Path, refused

_GROUPS = "InstanceGroups"
_SCRIPTS = ("LifeCycleConfig", "SourceS3Uri")


def checked(kind: str, body: dict[str, Any]) -> Iterator[Fault]:
    """All of it, of a request or of a group that stands alone."""
    if kind == GROUP:
        yield from _group(body, ())
    if kind != CLUSTER:
        return
    for index, group in indexed(body, _GROUPS):
        yield from _group(group, (_GROUPS, index))
    yield from _distinct(body)
    yield from _orchestrator(body)
    yield from _scaling(body)


def _distinct(body: dict[str, Any]) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, group in indexed(body, _GROUPS):
        name = group.get("InstanceGroupName")
        if not isinstance(name, str):
            continue
        if name in seen:
            path = (_GROUPS, index, "InstanceGroupName")
            yield refused(path, f"two instance groups are called `{name}`", "rename one of them")
        seen.add(name)


def _orchestrator(body: dict[str, Any]) -> Iterator[Fault]:
    orchestrator = body.get("Orchestrator")
    if isinstance(orchestrator, dict) and len(orchestrator) != 1:
        yield refused(
            ("Orchestrator",),
            f"the cluster has {len(orchestrator)} orchestrators",
            "keep one of `Eks` and `Slurm`",
        )


def _scaling(body: dict[str, Any]) -> Iterator[Fault]:
    if value_at(body, "AutoScaling", "Mode") != "Enable":
        return
    needed = {"NodeProvisioningMode": "Continuous", "NodeRecovery": "Automatic"}
    for key, value in needed.items():
        if body.get(key) != value:
            yield refused(
                ("AutoScaling",),
                f"nodes are scaled, and `{key}` is not `{value}`",
                f'write `"{key}": "{value}"`',
            )
    if "ClusterRole" not in body:
        yield refused(
            ("AutoScaling",),
            "nodes are scaled, and no `ClusterRole` adds and removes them",
            "write the ARN of a role with `sagemaker:BatchAddClusterNodes` and `BatchDeleteClusterNodes`",
        )


def _group(group: dict[str, Any], path: Path) -> Iterator[Fault]:
    yield from _types(group, path)
    yield from _volumes(group, path)
    source = value_at(group, *_SCRIPTS)
    if isinstance(source, str) and not placeholder(source) and "://sagemaker-" not in source:
        yield Fault(
            WEBHOOK,
            "SCH011",
            (*path, *_SCRIPTS),
            f"nodes may not read `{source}`: AmazonSageMakerClusterInstanceRolePolicy lets them read buckets whose "
            "names begin with `sagemaker-`",
            "take such a bucket, or give the execution role `s3:GetObject` and `s3:ListBucket` of this one",
            warning=True,
        )


def _types(group: dict[str, Any], path: Path) -> Iterator[Fault]:
    if "InstanceType" in group and "InstanceRequirements" in group:
        yield refused(
            (*path, "InstanceRequirements"),
            "the group has both `InstanceType` and `InstanceRequirements`",
            "keep one of them",
            key=True,
        )
    if "InstanceType" not in group and "InstanceRequirements" not in group:
        yield refused(path, "the group says no instance type", "write `InstanceType`")
    places: list[tuple[Path, Any]] = [((*path, "InstanceType"), group.get("InstanceType"))]
    several = value_at(group, "InstanceRequirements", "InstanceTypes")
    if isinstance(several, list):
        inside = (*path, "InstanceRequirements", "InstanceTypes")
        places += [((*inside, index), name) for index, name in enumerate(several)]
    for where, name in places:
        if isinstance(name, str) and not placeholder(name) and name not in instance_types():
            yield refused(where, f"HyperPod has no instance type `{name}`", _instead(name))


def _instead(name: str) -> str:
    if f"ml.{name}" in instance_types():
        return f"write `ml.{name}`"
    return (
        name_meant(name, sorted(instance_types()))
        or "take a type of another family, like `ml.g6.8xlarge`"
    )


def _volumes(group: dict[str, Any], path: Path) -> Iterator[Fault]:
    for index, config in indexed(group, "InstanceStorageConfigs"):
        volume = config.get("EbsVolumeConfig")
        if not isinstance(volume, dict):
            continue
        where = (*path, "InstanceStorageConfigs", index, "EbsVolumeConfig")
        if volume.get("RootVolume") is True:
            if "VolumeSizeInGB" in volume:
                yield refused(
                    (*where, "VolumeSizeInGB"),
                    "HyperPod says the size of a root volume itself",
                    "remove it, or `RootVolume`",
                    key=True,
                )
            if "VolumeKmsKeyId" not in volume:
                yield refused(
                    where,
                    "a root volume is configured without the key that encrypts it",
                    "write `VolumeKmsKeyId`, or remove `RootVolume`",
                )
        elif "VolumeSizeInGB" not in volume:
            yield refused(where, "the second volume has no size", "write `VolumeSizeInGB`")
