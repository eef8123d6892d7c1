"""An item of ``SlurmQueues`` for each partition, and what nodes of all kinds run and may do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.extensions.parallelcluster.partitions.plan import (
    POOL_TAG,
    ComputeResource,
    Partition,
)
from trainyard.extensions.parallelcluster.settings.node_scripts import NodeScript, NodeScripts
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import tag_list
from trainyard.verify.fault import Path


def actions(scripts: NodeScripts) -> dict[str, Any] | None:
    """What nodes run at each event: one script, or several in a row."""
    events = {"OnNodeStart": scripts.start, "OnNodeConfigured": scripts.configured}
    found = {event: _row(row) for event, row in events.items() if row}
    return found or None


def _row(scripts: Sequence[NodeScript]) -> dict[str, Any]:
    items = [fields_given(Script=one.place, Args=list(one.args) or None) for one in scripts]
    return items[0] if len(items) == 1 else {"Sequence": items}


def iam(policies: tuple[str, ...], access: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What nodes may do: by policies, and with buckets."""
    return fields_given(
        AdditionalIamPolicies=[{"Policy": arn} for arn in policies], S3Access=list(access) or None
    )


def queue(partition: Partition, access: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The queue with its compute resources."""
    root = fields_given(
        Size=partition.root_size,
        VolumeType="gp3",
        Encrypted=True,
        Iops=partition.root_iops,
        Throughput=partition.root_throughput,
    )
    scratch = {"MountDir": partition.scratch} if partition.scratch else None
    return fields_given(
        Name=partition.name,
        CapacityType=partition.capacity,
        ComputeSettings={"LocalStorage": fields_given(RootVolume=root, EphemeralVolume=scratch)},
        Networking={
            "SubnetIds": list(partition.subnets),
            "AdditionalSecurityGroups": list(partition.security_groups),
        },
        HealthChecks={"Gpu": {"Enabled": True}} if partition.gpu_check else None,
        ComputeResources=[_resource(resource) for resource in partition.resources],
        CustomActions=actions(partition.scripts),
        Iam=iam(partition.policies, access),
        Tags=tag_list({POOL_TAG: partition.title}),
    )


def places_of_queue(partition: Partition, at: Path) -> Places:
    """Where in the spec its keys come from."""
    places: Places = {
        at: partition.at,
        (*at, "CapacityType"): partition.where("capacity"),
        (*at, "ComputeSettings"): partition.where("root_size"),
        (*at, "ComputeSettings", "LocalStorage", "RootVolume", "Size"): partition.where("root"),
        (*at, "Networking", "SubnetIds"): partition.where("subnets"),
        (*at, "CustomActions"): partition.where("scripts"),
        (*at, "Iam"): partition.where("policies"),
    }
    for index, resource in enumerate(partition.resources):
        one = (*at, "ComputeResources", index)
        places |= {
            (*one, "InstanceType"): resource.where("instance_types"),
            (*one, "Instances"): resource.where("instance_types"),
            (*one, "MinCount"): resource.where("least"),
            (*one, "MaxCount"): resource.where("most"),
            (*one, "Efa"): resource.where("efa"),
            (*one, "CapacityReservationTarget"): resource.where("reservation"),
            (*one, "Networking"): resource.where("placement"),
        }
    return places


def _resource(resource: ComputeResource) -> dict[str, Any]:
    types: dict[str, Any] = {"InstanceType": resource.instance_types[0]}
    if len(resource.instance_types) > 1:
        types = {"Instances": [{"InstanceType": name} for name in resource.instance_types]}
    placement = None
    if resource.placement is not None:
        group = fields_given(Enabled=resource.placement, Name=resource.group)
        placement = {"PlacementGroup": group}
    target = None
    if resource.reservation is not None:
        target = {"CapacityReservationId": resource.reservation}
    return fields_given(
        Name=resource.name,
        **types,
        MinCount=resource.least,
        MaxCount=resource.most,
        # GPUDirect RDMA needs no setting (aws-parallelcluster 3.16.1, GdrSupport: deprecated).
        Efa={"Enabled": True} if resource.efa else None,
        CapacityReservationTarget=target,
        Networking=placement,
    )
