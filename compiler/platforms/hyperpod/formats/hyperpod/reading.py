"""Requests of HyperPod read back: the cluster, and its instance groups as pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compiler.catalog.hyperpod import ec2_name
from compiler.dataclass import dataclass
from compiler.manifest import placeholder
from compiler.output.body import at as value_at
from compiler.places import Route
from compiler.plan import PlanNode
from compiler.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, Requirement, Taint
from compiler.plan.units import Quantity
from compiler.platforms.hyperpod.cluster.plan import HyperPodCluster
from compiler.platforms.hyperpod.formats.hyperpod.structure import CLUSTER, GROUP
from compiler.platforms.hyperpod.formats.hyperpod.whole import Whole
from compiler.platforms.hyperpod.groups.plan import InstanceGroup, own_labels
from compiler.verify.fault import Path


@dataclass(frozen=True, slots=True)
class Part:
    """A mapping of a whole request, and its path."""

    whole: Whole
    path: Path

    def get(self, *keys: str | int) -> Any:
        """The value at some keys below; ``None`` where there is none, or it is filled in later."""
        value = value_at(self.whole.body, *self.path, *keys)
        if isinstance(value, str) and placeholder(value):
            return None
        return value

    def text(self, *keys: str | int) -> str | None:
        value = self.get(*keys)
        return value if isinstance(value, str) else None

    def number(self, *keys: str | int) -> int | None:
        value = self.get(*keys)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value

    def texts(self, *keys: str | int) -> tuple[str, ...]:
        """The texts of a list, with the variables among them."""
        values = value_at(self.whole.body, *self.path, *keys)
        found = values if isinstance(values, list) else ()
        return tuple(value for value in found if isinstance(value, str))

    def items(self, *keys: str | int) -> Iterator[Part]:
        """The mappings of a list."""
        values = self.get(*keys)
        for index, value in enumerate(values if isinstance(values, list) else ()):
            if isinstance(value, dict):
                yield Part(self.whole, (*self.path, *keys, index))

    def at(self, *keys: str | int) -> Route:
        artifact, path = self.whole.route((*self.path, *keys))
        return Route((artifact.id, *path))


def nodes(whole: Whole) -> Iterator[PlanNode]:
    """What a request says of the cluster and of pools."""
    root = Part(whole, ())
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
    tags = {tag.text("Key") or "": tag.text("Value") or "" for tag in root.items("Tags")}
    return HyperPodCluster(
        at=root.at(),
        name=root.text("ClusterName") or "",
        eks=root.text("Orchestrator", "Eks", "ClusterArn"),
        slurm=root.get("Orchestrator", "Slurm") is not None,
        recovery=root.text("NodeRecovery"),
        subnets=root.texts("VpcConfig", "Subnets"),
        security_groups=root.texts("VpcConfig", "SecurityGroupIds"),
        tags=tags,
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
        checks=group.texts("OnStartDeepHealthChecks"),
        plan=plan,
        threads=group.number("ThreadsPerCore"),
        volume=next((size for size in volumes if size is not None), None),
        subnets=group.texts("OverrideVpcConfig", "Subnets"),
        security_groups=group.texts("OverrideVpcConfig", "SecurityGroupIds"),
        origins={
            "limits": group.at("InstanceCount"),
            "replicas": group.at("InstanceCount"),
            "requirements": at_type,
            "instance_types": at_type,
            "capacity_types": group.at("CapacityRequirements"),
            "labels": group.at("KubernetesConfig", "Labels"),
            "taints": group.at("KubernetesConfig", "Taints"),
            "subnets": group.at("OverrideVpcConfig"),
            "volume": group.at("InstanceStorageConfigs"),
            "checks": group.at("OnStartDeepHealthChecks"),
            "plan": group.at("TrainingPlanArn"),
            "threads": group.at("ThreadsPerCore"),
        },
    )


def _types(group: Part) -> tuple[str, ...]:
    """The types of a group, by EC2's names."""
    one = group.text("InstanceType")
    several = group.texts("InstanceRequirements", "InstanceTypes")
    return tuple(ec2_name(name) for name in ((one,) if one else several))


def _taint(part: Part) -> Taint:
    return Taint(part.text("Key") or "", part.text("Value") or "", part.text("Effect") or "")
