"""Queues and compute resources: zones, EFA, placement groups, reservations and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.parallelcluster.formats.parallelcluster.checks.parts import (
    Part,
    queues_of,
    resources_of,
)
from trainyard.verify.fault import Fault, never_works, refused

_GROUP = ("Networking", "PlacementGroup")
_TARGET = "CapacityReservationTarget"
_LEAST, _MOST = 0, 10  # constants.py: DEFAULT_MIN_COUNT, DEFAULT_MAX_COUNT


def faults(body: dict[str, Any]) -> Iterator[Fault]:
    for queue in queues_of(body):
        yield from _subnets(queue)
        for resource in resources_of(queue):
            yield from _types(resource)
            yield from _counts(queue, resource)
            yield from _efa(queue, resource)
            yield from _group(queue, resource)
            yield from _reservation(queue, resource)


def _subnets(queue: Part) -> Iterator[Fault]:
    """Several subnets are for several instance types without EFA and without a placement group."""
    subnets = queue.texts("Networking", "SubnetIds")
    path = queue.at("Networking", "SubnetIds", 1)
    for index, subnet in enumerate(subnets):
        if subnet in subnets[:index]:
            yield refused(
                queue.at("Networking", "SubnetIds", index),
                f"subnet `{subnet}` is given twice",
                "remove one",
            )
    if len(subnets) < 2:
        return
    resources = list(resources_of(queue))
    one = "keep one subnet, in the zone of the reservation if there is one"
    if any(resource.get("Efa", "Enabled") is True for resource in resources):
        yield refused(path, "EFA never leaves a zone, and the queue has several subnets", one)
    if any(_enabled(queue, resource) for resource in resources):
        yield refused(
            path, "a placement group is in one zone, and the queue has several subnets", one
        )
    if any(resource.has("InstanceType") for resource in resources):
        yield refused(
            path,
            "a compute resource of one `InstanceType` takes one subnet",
            f"{one}, or write `Instances`",
        )


def _types(resource: Part) -> Iterator[Fault]:
    if resource.has("InstanceType") and resource.has("Instances"):
        yield refused(
            resource.at("Instances"),
            "`InstanceType` and `Instances` cannot be given together",
            "keep one of the two",
            key=True,
        )


def _is_block(queue: Part) -> bool:
    return queue.text("CapacityType") == "CAPACITY_BLOCK"


def _counts(queue: Part, resource: Part) -> Iterator[Fault]:
    least, most = resource.number("MinCount"), resource.number("MaxCount")
    low = _LEAST if least is None else least
    high = _MOST if most is None else most
    place = resource.at("MaxCount") if most is not None else resource.path
    if low > high:
        yield refused(place, f"`MaxCount` {high} is below `MinCount` {low}", f"write {low} or more")
    if not _is_block(queue):
        return
    if low == 0:
        yield refused(
            resource.at("MinCount") if least is not None else resource.path,
            "nodes of a Capacity Block are always on, and `MinCount` is 0",
            f"write `MinCount: {high}`",
        )
    elif low != high:
        yield refused(
            place,
            f"nodes of a Capacity Block are always on: `MinCount` {low} and `MaxCount` {high} are to be the same",
            f"write `MinCount: {high}`",
        )


def _efa(queue: Part, resource: Part) -> Iterator[Fault]:
    enabled = resource.get("Efa", "Enabled") is True
    if resource.get("Efa", "GdrSupport") is True and not enabled:
        yield refused(
            resource.at("Efa", "GdrSupport"),
            "`GdrSupport` is of nodes with EFA",
            "write `Enabled: true`",
        )
    if not enabled or _is_block(queue):
        return
    if not resource.has(*_GROUP) and not queue.has(*_GROUP):
        yield refused(
            resource.at("Efa"),
            "with EFA the placement group is to be said",
            "add `Networking: {PlacementGroup: {Enabled: true}}` to the compute resource",
            key=True,
        )
    elif not _enabled(queue, resource) and not _is_reserved(queue, resource):
        yield never_works(
            resource.at("Efa"),
            "nodes that talk over EFA are in no placement group, and may be far apart",
            "write `PlacementGroup: {Enabled: true}`",
            key=True,
            warning=True,
        )


def _is_reserved(queue: Part, resource: Part) -> bool:
    """Whether nodes are launched into a reservation, which lies where it was made (EC2 user guide, Capacity
    Reservations in a placement group)."""
    return queue.has(_TARGET) or resource.has(_TARGET)


def _enabled(queue: Part, resource: Part) -> bool:
    """Whether a compute resource is in a placement group: its own says so, or that of its queue."""
    for part in (resource, queue):
        if part.has(*_GROUP):
            named = part.has(*_GROUP, "Id") or part.has(*_GROUP, "Name")
            enabled = part.get(*_GROUP, "Enabled")
            return enabled is True or (named and enabled is None)
    return False


def _group(queue: Part, resource: Part) -> Iterator[Fault]:
    for part in (queue, resource):
        group = part.below(*_GROUP)
        named = [key for key in ("Id", "Name") if group.has(key)]
        if len(named) == 2:
            yield refused(
                group.path, "a placement group has an `Id` or a `Name`", "remove one", key=True
            )
        if named and group.get("Enabled") is False:
            yield refused(
                group.at("Enabled"),
                "a placement group is named and not enabled",
                "write `Enabled: true`",
            )
    if _is_block(queue) and _enabled(queue, resource):
        yield never_works(
            resource.at(*_GROUP) if resource.has(*_GROUP) else queue.at(*_GROUP),
            "a Capacity Block is placed closely by itself, and launches into no placement group",
            "remove `PlacementGroup`",
            key=True,
            warning=True,
        )


def _reservation(queue: Part, resource: Part) -> Iterator[Fault]:
    for part in (queue, resource):
        target = part.below(_TARGET)
        if target.has("CapacityReservationId") and target.has(
            "CapacityReservationResourceGroupArn"
        ):
            yield refused(
                target.path,
                "a reservation and a group of reservations cannot be given together",
                "keep one",
                key=True,
            )
    is_said = any(part.has(_TARGET, "CapacityReservationId") for part in (queue, resource))
    if _is_block(queue) and not is_said:
        yield refused(
            queue.at("CapacityType"),
            "a Capacity Block is a reservation, and its id is not given",
            "add `CapacityReservationTarget: {CapacityReservationId: cr-…}`",
        )
    if is_said and resource.has("Instances"):
        yield refused(
            resource.at("Instances"),
            "a reservation is of one instance type, and `Instances` may be several",
            "write `InstanceType`",
            key=True,
        )
